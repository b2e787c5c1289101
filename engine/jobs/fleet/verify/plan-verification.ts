/**
 * Divides the verification of a repository into parts. A part is some segments, or commits that contain
 * their entries. Each belongs to one part, however many commits share it. The first call pins the commits
 * that branches and tags name, so a repeated call cuts the same parts although others push meanwhile.
 */
import * as v from 'valibot';
import type { FleetPlan, FleetRequest } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { systemClock } from '../../../base/clock.ts';
import type { CommitHash, SegmentHash } from '../../../model/entry.ts';
import type { Commit } from '../../../repository/commit.ts';
import type { SegmentRef } from '../../../repository/manifest/manifest.ts';
import { resolveRef } from '../../../repository/resolve-ref.ts';
import { reportLostRefs } from '../../history/verify/check-collection.ts';
import { findForgotten, readOne, readRefs, walkCommits } from '../../history/verify/find-commits.ts';
import { Findings, type VerifyTools } from '../../history/verify/findings.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { type FleetPart, replacePart } from '../fleet-part.ts';
import { PART_BYTES_MAX, PART_FILES_MAX, RANGES_WANTED } from '../fleet-sizes.ts';

const TIPS_NAME = 'tips.json';
const tips = v.object({ commits: v.array(v.string()), unreadable: v.array(v.string()) });
type Tips = v.InferOutput<typeof tips>;

const PLAN_NAME = 'verify.json';
const plan = v.object({ ranges: v.number(), estimatedKeys: v.number() });

export async function planVerification(
  context: JobContext,
  folder: FleetFolder,
  request: FleetRequest,
): Promise<FleetPlan> {
  const known = await folder.read(PLAN_NAME, plan);
  if (known) return known;
  const found = await pinTips(context, folder, request);
  const { parts, ...committed } = await cut(context, folder, { request, tips: found });
  const ranges = Math.min(request.rangesWanted ?? RANGES_WANTED, parts.length);
  for (let range = 0; range < ranges; range += 1) {
    const own = parts.slice(startOf(range), startOf(range + 1));
    for (const [number, { files, bytes, ...content }] of own.entries()) {
      const isFirst = range === 0 && number === 0;
      await replacePart(folder, {
        ...{ range, number, files, bytes, isLast: number === own.length - 1, large: [] },
        committed: { ...(isFirst ? committed : { commits: 0, unreadable: [] }), ...content },
      });
    }
  }
  const done = { ranges, estimatedKeys: parts.reduce((sum, { files }) => sum + files, 0) };
  await folder.write(PLAN_NAME, done);
  return done;

  function startOf(range: number): number {
    return Math.floor((range * parts.length) / ranges);
  }
}

async function readSeenRefs(...[tools, findings]: Parameters<typeof readRefs>) {
  const { present, tips: live } = await readRefs(tools, findings);
  await reportLostRefs(tools, present, findings);
  return live;
}

async function pinTips(context: JobContext, folder: FleetFolder, request: FleetRequest): Promise<Tips> {
  const known = await folder.read(TIPS_NAME, tips);
  if (known) return known;
  const { findings, tools, unreadable } = openTools(context, folder);
  const { ref } = request;
  const commits =
    ref === undefined
      ? (await readSeenRefs(tools, findings)).map(({ commit }) => commit)
      : [(await resolveRef(tools.store, ref, { signal: context.signal })).commit];
  const made = { commits: [...commits], unreadable };
  if (await folder.writeNew(TIPS_NAME, made)) return made;
  return (await folder.read(TIPS_NAME, tips))!;
}

type Committed = NonNullable<FleetPart['committed']>;
type PartContent = Pick<Committed, 'inlineCommits' | 'segments'> & Pick<FleetPart, 'files' | 'bytes'>;
type Cut = Pick<Committed, 'commits' | 'unreadable'> & { readonly parts: readonly PartContent[] };

interface CutOptions {
  readonly request: FleetRequest;
  readonly tips: Tips;
}

async function cut(
  context: JobContext,
  folder: FleetFolder,
  { request, tips: pinned }: CutOptions,
): Promise<Cut> {
  const { findings, tools, unreadable } = openTools(context, folder);
  const parts = new PartCutter(request);
  const onCommit = (hash: CommitHash, commit: Commit) => parts.add(hash, commit);
  const commits = pinned.commits as CommitHash[];
  if (request.ref === undefined) {
    // There may have been a collection since.
    const named = commits.map((commit) => ({ commit, collects: true as const, epoch: 1 }));
    const forgotten = await findForgotten(tools, named, findings);
    const onKept: typeof onCommit = (hash, commit) => {
      if (!forgotten.has(hash)) onCommit(hash, commit);
    };
    await walkCommits(tools, { tips: commits, findings, onCommit: onKept });
  } else
    for (const hash of commits) {
      const commit = await readOne(tools, hash, findings);
      if (commit) onCommit(hash, commit);
    }
  return {
    commits: parts.commits,
    unreadable: [...pinned.unreadable, ...unreadable],
    parts: parts.finish(),
  };
}

/** The first part gets unreadable commits and refs, so that it reports them with the rest. */
function openTools(context: JobContext, folder: FleetFolder) {
  const unreadable: string[] = [];
  const emit: JobContext['emit'] = (event) => {
    if (event.type === 'check') unreadable.push(event.detail);
    else context.emit(event);
  };
  const tools: VerifyTools = { context: { ...context, emit }, clock: systemClock, ...folder.remote };
  return { findings: new Findings(tools), tools, unreadable };
}

class PartCutter {
  readonly #request: FleetRequest;
  readonly #seen = new Set<SegmentHash>();
  readonly #parts: PartContent[] = [];
  #part = emptyPart();
  #commits = 0;

  constructor(request: FleetRequest) {
    this.#request = request;
  }

  get commits(): number {
    return this.#commits;
  }

  add(commit: CommitHash, { manifest, totals }: Commit): void {
    this.#commits += 1;
    if (manifest.kind === 'inline') {
      this.#part.inlineCommits.push(commit);
      this.#count(totals);
      return;
    }
    for (const segment of manifest.segments) {
      if (this.#seen.has(segment.hash)) continue;
      this.#seen.add(segment.hash);
      this.#part.segments.push({ commit, segment });
      this.#count(segment);
    }
  }

  /** At least one part. */
  finish(): readonly PartContent[] {
    if (this.#part.files > 0 || this.#parts.length === 0) this.#parts.push(this.#part);
    return this.#parts;
  }

  #count({ bytes, files }: Pick<SegmentRef, 'bytes' | 'files'>): void {
    const {
      partBytesMax = PART_BYTES_MAX,
      partFilesMax = PART_FILES_MAX,
      readDataPercent = 0,
    } = this.#request;
    this.#part.files += files;
    this.#part.bytes += bytes;
    const readBytes = (this.#part.bytes * readDataPercent) / 100;
    if (this.#part.files < partFilesMax && readBytes < partBytesMax) return;
    this.#parts.push(this.#part);
    this.#part = emptyPart();
  }
}

function emptyPart(): PartContent {
  return { files: 0, bytes: 0, inlineCommits: [], segments: [] };
}
