import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { runBudget } from '../../../base/run-budget.fixture.ts';
import { comparePaths } from '../../../model/entry.ts';
import { openFileStore } from '../../../remotes/file/file-store.ts';
import { createMemoryStore } from '../../../remotes/memory/memory-store.fixture.ts';
import type { ListedVersion, ObjectStore } from '../../../remotes/object-store.ts';
import { createMeter } from '../../../remotes/wrappers/with-meter.ts';
import { readCommit } from '../../../repository/commit.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { readRef } from '../../../repository/refs.ts';
import { createAdaptiveLimit } from '../../../transfer/limit/adaptive-limit.ts';
import { createSandbox, eventsOf, testContext } from '../../session/job.fixture.ts';
import { importVersionsOf } from './import-folder-versions.ts';

interface Event {
  readonly path: string;
  /** Undefined: it is deleted. */
  readonly content: string | undefined;
  readonly atMs: number;
  /** How much earlier its upload began, if it came in parts. */
  readonly backMs: number;
}

const PAGE = 4;

/** A bucket in which these events have happened, in their order. It counts what is read. */
function bucketOf(events: readonly Event[]) {
  let reads = 0;
  const versions = events.map(({ atMs, backMs, content, path }, number): ListedVersion => {
    const isLatest = !events.slice(number + 1).some((later) => later.path === path);
    const versionId = `v${number}`;
    const described = content !== undefined && { content: { sizeBytes: content.length, etag: versionId } };
    return { key: path, versionId, isLatest, modifiedMs: atMs - backMs, ...described };
  });
  const listed = versions.toReversed().sort((left, right) => comparePaths(left.key, right.key));
  const store: ObjectStore = {
    ...createMemoryStore(),
    address: 's3://bucket/data',
    async versions({ continuation }) {
      const from = continuation ? Number(continuation.versionId) : 0;
      const page = listed.slice(from, from + PAGE);
      const next = from + PAGE;
      const rest = next < listed.length && { continuation: { key: '', versionId: String(next) } };
      return { versions: page, ...rest };
    },
    async get(_key, { versionId } = {}) {
      reads += 1;
      const { content } = events[Number(versionId!.slice(1))]!;
      const info = { sizeBytes: content!.length } as never;
      return {
        sizeBytes: content!.length,
        etag: versionId!,
        body: Readable.from([Buffer.from(content!)]),
        info,
      };
    },
  };
  const remote = {
    store,
    meter: createMeter('local'),
    limit: createAdaptiveLimit({ clock: systemClock, fixed: 4 }),
    [Symbol.asyncDispose]: async () => {},
  };
  return { remote, reads: () => reads };
}

/** What each key is after the events up to a time. A key that others lie below is no file then. */
function stateAt(events: readonly Event[], ms: number): Record<string, string> {
  const state = new Map<string, string>();
  const counted = new Map<string, number>();
  for (const { atMs, backMs, content, path } of events) {
    counted.set(path, Math.max(counted.get(path) ?? 0, atMs - backMs));
    if (counted.get(path)! > ms) continue;
    if (content === undefined) state.delete(path);
    else state.set(path, content);
  }
  const paths = [...state.keys()];
  const files = [...state].filter(([path]) => !paths.some((other) => other.startsWith(`${path}/`)));
  return Object.fromEntries(files.map(([path, content]) => [path, hash('sha256', content)]));
}

async function historyOf(path: string) {
  const store = await openFileStore({ root: path, mayBeMissing: true });
  const found: { readonly timeMs: number; readonly files: Record<string, string> }[] = [];
  let next = (await readRef(store, 'heads/main'))?.commit;
  while (next) {
    const commit = await readCommit(store, next);
    const files: Record<string, string> = {};
    for await (const entries of readEntries(store, commit))
      for (const entry of entries) if (entry.kind === 'file') files[entry.path] = entry.blob;
    found.unshift({ timeMs: Date.parse(commit.time), files });
    next = commit.parents[0];
  }
  await store.close();
  return found;
}

/** At least so many events, until all later times are later: else a commit has the time of two states. */
function firstOf(events: readonly Event[], count: number): readonly Event[] {
  const timeOf = ({ atMs, backMs }: Event) => atMs - backMs;
  for (let end = count; end < events.length; end += 1) {
    const known = Math.max(...events.slice(0, end).map(timeOf));
    if (events.slice(end).every((event) => timeOf(event) > known)) return events.slice(0, end);
  }
  return events;
}

/** The states at the ends of the hours with events, without those that equal the one before. */
function spansOf(events: readonly Event[]) {
  const latest = new Map<string, number>();
  const times = events.map(({ atMs, backMs, path }) => {
    latest.set(path, Math.max(latest.get(path) ?? 0, atMs - backMs));
    return latest.get(path)!;
  });
  const ends = new Map<number, number>();
  for (const time of times.sort((left, right) => left - right)) ends.set(Math.floor(time / HOUR), time);
  const found: { readonly timeMs: number; readonly files: Record<string, string> }[] = [];
  for (const timeMs of ends.values()) {
    const files = stateAt(events, timeMs);
    if (!isDeepStrictEqual(files, found.at(-1)?.files ?? {})) found.push({ timeMs, files });
  }
  return found;
}

const HOUR = 3_600_000;

const history = fc
  .array(
    fc.record({
      path: fc.constantFrom('a', 'a/b', 'a-', 'c/d', 'c/e', 'ü'),
      content: fc.option(fc.constantFrom('one', 'two', 'three'), { nil: undefined, freq: 4 }),
      afterMs: fc.constantFrom(0, 1_000, 30 * 60_000, HOUR, 5 * HOUR),
      backMs: fc.constantFrom(0, 0, 0, 500),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((steps) => {
    let atMs = Date.UTC(2026, 0, 1);
    return steps.map(({ afterMs, ...step }): Event => {
      atMs += afterMs;
      return { ...step, atMs };
    });
  })
  .filter((events) => events.some(({ content }) => content !== undefined));

describe('an import of versions', () => {
  it('has a commit for each span that changed something, with what each key was', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), async (events, cut) => {
        using sandbox = createSandbox();
        const context = () =>
          testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
        const request = { source: 'unused', to: 'repository', everyMs: HOUR, skipMissing: true };
        const first = firstOf(events, 1 + (cut % events.length));
        const repository = sandbox.path('repository');
        for (const part of [first, events]) {
          const { remote } = bucketOf(part);
          const made = importVersionsOf(context(), request, remote);
          if (part === first) {
            const expected = spansOf(first);
            if (expected.length === 0) {
              await expect(made).rejects.toMatchObject({ code: 'notFound' });
              return;
            }
            await made;
            expect(await historyOf(repository)).toEqual(expected);
          }
          await made;
        }
        const commits = await historyOf(repository);
        for (const [number, { files, timeMs }] of commits.entries()) {
          // The last one also has what came with an earlier time than was known.
          const isLast = number === commits.length - 1;
          expect(files).toEqual(stateAt(events, isLast ? Number.POSITIVE_INFINITY : timeMs));
          if (number > 0) expect(files).not.toEqual(commits[number - 1]!.files);
        }
        const again = bucketOf(events);
        const { commits: more } = await importVersionsOf(context(), request, again.remote);
        expect({ more, reads: again.reads() }).toEqual({ more: 0, reads: 0 });
      }),
      { numRuns: runBudget({ short: 15, long: 400, full: 2_000 }) },
    );
  });

  it('names again what an earlier import left out, also where no commit changed', async () => {
    using sandbox = createSandbox();
    const { remote } = bucketOf(
      ['good', '.dray/config', 'later'].map((path, day) => ({
        path,
        content: path,
        atMs: Date.UTC(2026, 0, 1 + day),
        backMs: 0,
      })),
    );
    const run = async (skipMissing: boolean) => {
      const context = testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
      const request = { source: 'unused', to: 'repository', everyMs: HOUR, skipMissing };
      const { commits, failed, result } = await importVersionsOf(context, request, remote);
      return { commits, failed, result, named: eventsOf(context, 'fileFailed').map(({ path }) => path) };
    };
    const named = ['.dray/config'];
    expect(await run(true)).toEqual({ commits: 2, failed: 1, result: 'imported', named });
    expect(await run(false)).toEqual({ commits: 0, failed: 1, result: 'upToDate', named });
    expect(await run(true)).toEqual({ commits: 0, failed: 1, result: 'upToDate', named });
  });
});
