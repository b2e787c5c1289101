/**
 * Several workspaces that fall behind while commits are forgotten and collected, in random order: whatever a
 * workspace is based on, it pulls and pushes all that it has, also after a pull that was stopped.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { collectGarbage } from '../../engine/jobs/collect/collect.ts';
import { tag } from '../../engine/jobs/history/refs.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { forget } from '../../engine/jobs/retention/forget.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { findCutPath } from '../../engine/repository/manifest/cut-path.fixture.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';

const SEEDS = runBudget({ short: [2], long: Array.from({ length: 8 }, (_, at) => at + 1) });
const STEPS = runBudget({ short: 80, long: 200 });
const WORKSPACES = ['a', 'b', 'c'] as const;
const OWN_FILES = 12;
/** More than one segment, so that a forgotten manifest is gone and not part of its commit. */
const SEGMENT_ENTRIES = 1_030;

class Machines {
  readonly #sandbox: Sandbox;
  readonly #draw: Draw;
  /** The files that only this workspace writes, by name. */
  readonly #own = new Map<string, Map<string, string>>();
  #tags = 0;

  constructor(sandbox: Sandbox, seed: number) {
    this.#sandbox = sandbox;
    this.#draw = drawFrom(seed);
  }

  async start(): Promise<void> {
    const [first, ...others] = WORKSPACES;
    for (let at = 0; at < SEGMENT_ENTRIES; at += 1)
      this.#sandbox.write(`${first}/shared/${String(at).padStart(4, '0')}`, `${at % 7}`);
    this.#sandbox.write(`${first}/${findCutPath('shared~')}`, 'cut');
    this.#sandbox.write(`${first}/zz`, 'the second segment');
    for (const name of WORKSPACES) this.#own.set(name, new Map());
    const layout = { packBelow: 64, chunkAbove: 2_000 };
    await initWorkspace(this.#context(first), { remoteUrl: this.#sandbox.path('store'), layout });
    await push(this.#context(first), {});
    for (const name of others) await this.#clone(name);
  }

  #context(name: string, more: Parameters<typeof testContext>[1] = {}) {
    return testContext(this.#sandbox.path(name), more);
  }

  async #clone(name: string): Promise<void> {
    const url = this.#sandbox.path('store');
    await cloneWorkspace(testContext(this.#sandbox.folder), { url, directory: this.#sandbox.path(name) });
  }

  async step(): Promise<void> {
    const name = this.#draw.of(WORKSPACES);
    const steps = [
      () => this.#edit(name),
      () => this.#edit(name),
      async () => {
        this.#edit(name);
        await this.#push(name);
      },
      () => this.#push(name),
      () => this.#pull(name),
      () => this.#stoppedPull(name),
      () => this.#forget(name),
      () => this.#forget(name),
      () => this.#tag(name),
    ];
    await this.#draw.of(steps)();
  }

  /** Everything is pushed and pulled: all have the same, and what each wrote is there. */
  async settle(): Promise<void> {
    for (const name of WORKSPACES) await this.#push(name);
    for (const name of WORKSPACES) await this.#pull(name);
    await this.#clone('fresh');
    const trees = [...WORKSPACES, 'fresh'].map((name) =>
      describeTree(this.#sandbox.path(name), { times: false }),
    );
    for (const tree of trees) expect(tree).toEqual(trees[0]);
    const paths = trees[0]!.filter((line) => /^own-.*\/./.test(line)).length;
    expect(paths).toBe([...this.#own.values()].reduce((sum, files) => sum + files.size, 0));
    const checked = await verify(this.#context('fresh'), { readDataPercent: 100 });
    expect(checked).toMatchObject({ missing: 0, damaged: 0 });
    rmSync(this.#sandbox.path('fresh'), { recursive: true });
  }

  #edit(name: string): void {
    const file = `own-${name}/${this.#draw.below(OWN_FILES)}`;
    const own = this.#own.get(name)!;
    if (this.#draw.chance(20)) {
      own.delete(file);
      rmSync(this.#sandbox.path(name, file), { force: true });
      return;
    }
    // For a pack, an object, or chunks.
    const content = this.#draw.noise(this.#draw.of([20, 200, 3_000])).toString('base64');
    own.set(file, content);
    this.#sandbox.write(`${name}/${file}`, content);
  }

  /** A collected base and a pull that was stopped ask for a pull first, and nothing else may fail. */
  async #push(name: string): Promise<void> {
    const isDone = await push(this.#context(name), {}).then(
      () => true,
      ({ code, data }) => {
        const reason = String((data as { readonly reason?: unknown }).reason);
        const known = ['conflict baseCollected', 'forgotten unfinishedPull'];
        expect(known).toContain(`${code} ${reason}`);
        return false;
      },
    );
    if (isDone) return;
    await this.#pull(name);
    expect((await push(this.#context(name), {})).failed).toBe(0);
  }

  async #pull(name: string): Promise<void> {
    expect(await pull(this.#context(name), {})).toMatchObject({ failed: 0, decided: 0 });
    for (const [file] of this.#own.get(name)!)
      expect(existsSync(join(this.#sandbox.path(name), file))).toBe(true);
  }

  async #stoppedPull(name: string): Promise<void> {
    const stop = new AbortController();
    let left = 1 + this.#draw.below(8);
    const take = () => {
      left -= 1;
      if (left === 0) stop.abort();
      return undefined;
    };
    await pull(this.#context(name, { signal: stop.signal, requestThrottle: { take } }), {}).catch(
      ({ code }) => expect(code).toBe('aborted'),
    );
  }

  async #forget(name: string): Promise<void> {
    await forget(this.#context(name), {
      policy: { keepLast: this.#draw.of([1, 1, 3]) },
      ...(this.#draw.chance(50) ? { tags: ['*'] } : {}),
    });
    if (this.#draw.chance(80)) await collectGarbage(this.#context(name), { graceSeconds: 0 });
  }

  async #tag(name: string): Promise<void> {
    this.#tags += 1;
    await tag(this.#context(name), { name: `t${this.#tags}`, ref: 'main' });
  }
}

describe('workspaces on forgotten commits', () => {
  it.each(SEEDS)('pull and push all that they have (seed %i)', async (seed) => {
    using sandbox = createSandbox();
    const machines = new Machines(sandbox, seed);
    await machines.start();
    for (let step = 1; step <= STEPS; step += 1) {
      await machines.step();
      if (step % 40 === 0) await machines.settle();
    }
  });
});
