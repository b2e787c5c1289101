/**
 * Three workspaces that hold parts of a dataset and one that holds all of it, in random order: edits, pushes,
 * pulls, switches and changes of scope. After each step every file is where a dictionary says: what a
 * workspace does not hold stays on the branch as it was, and nothing that was not pushed is lost.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../engine/api/error.ts';
import { runBudget } from '../engine/base/run-budget.fixture.ts';
import { branch } from '../engine/jobs/history/refs.ts';
import { verify } from '../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../engine/jobs/pull/clone.ts';
import { pull } from '../engine/jobs/pull/pull.ts';
import { switchBranch } from '../engine/jobs/pull/switch.ts';
import { push } from '../engine/jobs/push/push.ts';
import { initWorkspace } from '../engine/jobs/remotes/init.ts';
import { scope } from '../engine/jobs/scope/scope.ts';
import { createSandbox, type Sandbox, testContext } from '../engine/jobs/session/job.fixture.ts';
import { restore } from '../engine/jobs/working-copy/restore.ts';
import { status } from '../engine/jobs/working-copy/status.ts';
import { compileScope } from '../engine/model/scope.ts';
import { type Draw, drawFrom } from './seeded-draw.ts';

const SEEDS = runBudget({ short: [1, 2], long: [3, 4, 5] });
const STEPS = runBudget({ short: 150, long: 2_000 });

const FOLDERS = ['', 'a/', 'b/', 'b/sub/', 'x/', 'x/deep/er/', 'y/'];
const NAMES = ['1.csv', '2.bin', '3', '4.csv'];
const PATHS = FOLDERS.flatMap((folder) => NAMES.map((name) => folder + name));
const PATTERNS = ['a', 'b/', 'b/sub', 'x', 'x/deep', '*.csv', 'y/*.bin', '/3', 'x/*', '?.bin'];
const BRANCHES = ['main', 'trial'];
/** Lie between the others, so that most segments are outside of every part. */
const STATIC_FILES = 3_000;

type Files = ReadonlyMap<string, string>;

interface Machine {
  readonly name: string;
  /** Undefined: everything. */
  only: readonly string[] | undefined;
  branch: string;
  base: string;
  /** What it holds, pushed or not. */
  files: Map<string, string>;
  /** Files here that are outside of its scope. */
  outside: Map<string, string>;
}

interface Sides {
  readonly base: Files;
  readonly target: Files;
}

class Model {
  readonly #sandbox: Sandbox;
  readonly #draw: Draw;
  readonly #commits = new Map<string, Files>();
  readonly #tips = new Map<string, string>();
  readonly machines: Machine[] = [];
  readonly counts = new Map<string, number>();
  #content = 0;

  constructor(sandbox: Sandbox, seed: number) {
    this.#sandbox = sandbox;
    this.#draw = drawFrom(seed);
  }

  #root = (name: string) => join(this.#sandbox.folder, name);
  #context = ({ name }: Pick<Machine, 'name'>) => testContext(this.#root(name));
  #count = (what: string) => this.counts.set(what, (this.counts.get(what) ?? 0) + 1);

  async start(): Promise<void> {
    const files = new Map<string, string>();
    for (let at = 0; at < STATIC_FILES; at += 1) files.set(`m/${String(at).padStart(4, '0')}`, `${at % 7}`);
    for (const path of PATHS) if (this.#draw.chance(60)) files.set(path, this.#newContent());
    files.set('zz', 'last');
    for (const [path, content] of files) this.#sandbox.write(`whole/${path}`, content);
    const whole = this.#context({ name: 'whole' });
    await initWorkspace(whole, {
      remoteUrl: this.#sandbox.path('store'),
      layout: { packBelow: 64, chunkAbove: 2_000 },
    });
    const { commit } = await push(whole, {});
    await branch(whole, { name: 'trial' });
    this.#commits.set(commit!, files);
    for (const name of BRANCHES) this.#tips.set(name, commit!);
    const machine = { branch: 'main', base: commit!, outside: new Map() };
    this.machines.push({ ...machine, name: 'whole', only: undefined, files: new Map(files) });
    for (const name of ['one', 'two', 'three']) {
      const only = this.#patterns();
      const url = this.#sandbox.path('store');
      await cloneWorkspace(testContext(this.#sandbox.folder), { url, directory: name, only });
      const { holds } = compileScope(only);
      const held = new Map([...files].filter(([path]) => holds(path)));
      this.machines.push({ ...machine, outside: new Map(), name, only, files: held });
    }
  }

  #patterns(): readonly string[] {
    return [...new Set(Array.from({ length: 1 + this.#draw.below(3) }, () => this.#draw.of(PATTERNS)))];
  }

  #newContent(): string {
    this.#content += 1;
    return this.#draw.chance(30) ? `v${this.#draw.below(3)}` : `content ${this.#content}`;
  }

  async step(): Promise<void> {
    const machine = this.#draw.of(this.machines);
    const edit = () => this.#edit(machine);
    const steps = [edit, edit, edit, edit, () => this.#push(machine), () => this.#push(machine)];
    steps.push(
      () => this.#pull(machine),
      () => this.#pull(machine),
      () => this.#restore(machine),
    );
    if (this.#draw.chance(30)) steps.push(() => this.#switch(machine));
    if (machine.only || this.#draw.chance(10)) steps.push(() => this.#scope(machine));
    if (this.#draw.chance(20)) steps.push(async () => this.#loseIndex(machine));
    await this.#draw.of(steps)();
    this.#check(machine);
  }

  #holds({ only }: Machine): (path: string) => boolean {
    return only ? compileScope(only).holds : () => true;
  }

  async #edit(machine: Machine): Promise<void> {
    for (let left = 1 + this.#draw.below(3); left > 0; left -= 1) {
      const path = this.#draw.of(PATHS);
      const isHeld = this.#holds(machine)(path);
      // Most people stay within their part.
      if (!isHeld && !this.#draw.chance(15)) continue;
      const place = isHeld ? machine.files : machine.outside;
      const full = join(this.#root(machine.name), path);
      if (place.has(path) && this.#draw.chance(40)) {
        place.delete(path);
        rmSync(full);
        if (this.#draw.chance(70)) this.#removeEmptied(dirname(full), this.#root(machine.name));
        continue;
      }
      const content = this.#newContent();
      place.set(path, content);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
    }
  }

  #removeEmptied(folder: string, root: string): void {
    for (let at = folder; at !== root && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at);
  }

  /** The paths that both sides changed differently, within what the machine holds. */
  #conflicts(machine: Machine, { base, target }: Sides): string[] {
    const holds = this.#holds(machine);
    const paths = new Set([...base.keys(), ...target.keys(), ...machine.files.keys()].filter(holds));
    return [...paths].filter((path) => {
      const [old, ours, theirs] = [base.get(path), machine.files.get(path), target.get(path)];
      return old !== ours && old !== theirs && ours !== theirs;
    });
  }

  #sides(machine: Machine, name = machine.branch): Sides {
    return { base: this.#commits.get(machine.base)!, target: this.#commits.get(this.#tips.get(name)!)! };
  }

  #withOurs(machine: Machine, base: Files, onto: Files): Files {
    const holds = this.#holds(machine);
    const next = new Map(onto);
    for (const path of base.keys()) if (holds(path) && !machine.files.has(path)) next.delete(path);
    for (const [path, content] of machine.files) if (base.get(path) !== content) next.set(path, content);
    return next;
  }

  async #push(machine: Machine): Promise<void> {
    const sides = this.#sides(machine);
    const tip = this.#tips.get(machine.branch)!;
    const isChanged = this.#withOurs(machine, sides.base, sides.base);
    const isAhead = tip !== machine.base;
    const hasChanges = !sameFiles(isChanged, sides.base);
    const clashes = isAhead && hasChanges ? this.#conflicts(machine, sides) : [];
    const outcome = await push(this.#context(machine), { allowEmptied: true }).catch(refused);
    if (clashes.length > 0 || outcome === 'conflict') {
      this.#count('push refused');
      expect([outcome, clashes.length > 0]).toEqual(['conflict', true]);
      return;
    }
    const summary = outcome as Exclude<typeof outcome, 'conflict'>;
    if (summary.result === 'pushed') {
      this.#count(summary.mergedWith ? 'push merged' : 'pushed');
      this.#commits.set(summary.commit!, this.#withOurs(machine, sides.base, sides.target));
      this.#tips.set(machine.branch, summary.commit!);
    } else expect(sameFiles(this.#withOurs(machine, sides.base, sides.target), sides.target)).toBe(true);
    const base = this.#baseOf(machine);
    if (!this.#commits.has(base)) this.#commits.set(base, isChanged);
    machine.base = base;
  }

  #baseOf({ name }: Machine): string {
    return JSON.parse(readFileSync(join(this.#root(name), '.dray/state.json'), 'utf8')).bases.origin;
  }

  async #pull(machine: Machine): Promise<void> {
    const conflicts = this.#draw.of(['stop', 'ours', 'theirs'] as const);
    const request = conflicts === 'stop' ? {} : { conflicts };
    const sides = this.#sides(machine);
    const outcome = await pull(this.#context(machine), request).catch(refused);
    this.#settle(machine, machine.branch, sides, outcome, conflicts);
  }

  async #switch(machine: Machine): Promise<void> {
    const name = this.#draw.of(BRANCHES.filter((one) => one !== machine.branch));
    const sides = this.#sides(machine, name);
    const outcome = await switchBranch(this.#context(machine), { name }).catch(refused);
    this.#settle(machine, name, sides, outcome, 'stop');
  }

  #settle(
    machine: Machine,
    name: string,
    sides: Sides,
    outcome: unknown,
    decision: 'stop' | 'ours' | 'theirs',
  ): void {
    const tip = this.#tips.get(name)!;
    const clashes = new Set(tip === machine.base ? [] : this.#conflicts(machine, sides));
    if (clashes.size > 0 && decision === 'stop') {
      this.#count('pull refused');
      expect(outcome).toBe('conflict');
      return;
    }
    expect(outcome).toMatchObject({ failed: 0 });
    this.#count(name === machine.branch ? 'pulled' : 'switched');
    const holds = this.#holds(machine);
    for (const path of new Set([...sides.base.keys(), ...sides.target.keys()])) {
      const isChanged = sides.base.get(path) !== sides.target.get(path);
      if (!isChanged || !holds(path) || (clashes.has(path) && decision === 'ours')) continue;
      setOrDelete(machine.files, path, sides.target.get(path));
    }
    machine.branch = name;
    machine.base = tip;
    expect(this.#baseOf(machine)).toBe(tip);
  }

  async #restore(machine: Machine): Promise<void> {
    const base = this.#commits.get(machine.base)!;
    const paths = PATHS.filter((path) => base.has(path) && this.#holds(machine)(path));
    if (paths.length === 0) return;
    const path = this.#draw.of(paths);
    await restore(this.#context(machine), { paths: [join(this.#root(machine.name), path)] });
    machine.files.set(path, base.get(path)!);
  }

  async #scope(machine: Machine): Promise<void> {
    const patterns = this.#patterns();
    const held = machine.only;
    const action = held ? this.#draw.of(['add', 'only', 'only', 'drop', 'clear'] as const) : 'only';
    const context = this.#context(machine);
    const gone = action === 'drop' ? this.#draw.of(held!) : undefined;
    const next = {
      add: [...new Set([...(held ?? []), ...patterns])],
      clear: undefined,
      drop: held?.filter((pattern) => pattern !== gone),
      only: patterns,
    }[action];
    await this.#refuseOthers(machine, next);
    if (action === 'clear') {
      if (!this.#draw.chance(20)) return;
      await this.#changeScope(machine, undefined);
    } else if (action === 'add') {
      await scope(context, { action, patterns });
      this.#rescope(machine, next);
    } else if (action === 'drop') {
      if (held!.length < 2) return;
      await scope(context, { action, patterns: [gone!] });
      this.#rescope(machine, next);
    } else await this.#changeScope(machine, patterns);
  }

  /** A file outside that differs from the base's stops the change that would take it in. It is moved away. */
  async #refuseOthers(machine: Machine, only: readonly string[] | undefined): Promise<void> {
    if (!machine.only) return;
    const base = this.#commits.get(machine.base)!;
    const holds = only ? compileScope(only).holds : () => true;
    const others = [...machine.outside].filter(
      ([path, content]) => holds(path) && base.has(path) && base.get(path) !== content,
    );
    if (others.length === 0) return;
    this.#count('scope refused');
    const request = only ? ({ action: 'only', patterns: only } as const) : ({ action: 'clear' } as const);
    expect(await scope(this.#context(machine), request).catch(refused)).toBe('conflict');
    this.#check(machine);
    for (const [path] of others) {
      machine.outside.delete(path);
      rmSync(join(this.#root(machine.name), path));
    }
  }

  /** A stopped change may have fetched files, and has not taken them in. True if it did nothing else. */
  #leaveFetched(machine: Machine, only: readonly string[] | undefined): boolean {
    const text = readFileSync(join(this.#root(machine.name), '.dray/state.json'), 'utf8');
    const { scope: now } = JSON.parse(text);
    if (!machine.only || now?.leaving || !sameSets(now?.only, machine.only)) return false;
    const holds = only ? compileScope(only).holds : () => true;
    const held = this.#holds(machine);
    for (const [path, content] of this.#commits.get(machine.base)!) {
      const isNew = holds(path) && !held(path) && !machine.outside.has(path);
      if (isNew && existsSync(join(this.#root(machine.name), path))) machine.outside.set(path, content);
    }
    return true;
  }

  /** Sometimes stops in the middle, and does it again, or something else. */
  async #changeScope(machine: Machine, only: readonly string[] | undefined): Promise<void> {
    const request = only ? ({ action: 'only', patterns: only } as const) : ({ action: 'clear' } as const);
    if (this.#draw.chance(50)) {
      const stop = new AbortController();
      let left = 1 + this.#draw.below(8);
      const emit = () => {
        left -= 1;
        if (left === 0) stop.abort();
      };
      const outcome = await scope({ ...this.#context(machine), signal: stop.signal, emit }, request).catch(
        (error: unknown) => {
          if (error instanceof DrayError && error.code === 'aborted') return 'stopped' as const;
          throw error;
        },
      );
      if (outcome === 'stopped') {
        this.#count('scope stopped');
        if (this.#draw.chance(50) && this.#leaveFetched(machine, only)) return;
      }
    }
    await scope(this.#context(machine), request);
    this.#rescope(machine, only);
  }

  #rescope(machine: Machine, only: readonly string[] | undefined): void {
    this.#count('scope changed');
    const held = this.#holds(machine);
    machine.only = only;
    const holds = this.#holds(machine);
    const base = this.#commits.get(machine.base)!;
    for (const [path, content] of base)
      if (holds(path) && !held(path) && !machine.outside.has(path)) machine.files.set(path, content);
    for (const [path, content] of machine.outside) {
      if (!holds(path)) continue;
      machine.outside.delete(path);
      machine.files.set(path, content);
    }
    for (const [path, content] of machine.files) {
      if (holds(path)) continue;
      machine.files.delete(path);
      if (base.get(path) !== content) machine.outside.set(path, content);
    }
  }

  #loseIndex({ name }: Machine): void {
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(this.#root(name), `.dray/index.db${suffix}`), { force: true });
  }

  #check(machine: Machine): void {
    const expected = new Map([...machine.files, ...machine.outside]);
    expect(sorted(readTree(this.#root(machine.name)))).toEqual(sorted(expected));
  }

  /** What each reports is what the dictionary says. */
  async checkStatus(): Promise<void> {
    for (const machine of this.machines) {
      this.#check(machine);
      const base = this.#commits.get(machine.base)!;
      const { changes, scope } = await status(this.#context(machine), {});
      const holds = this.#holds(machine);
      const paths = new Set([...base.keys(), ...machine.files.keys()].filter(holds));
      const differing = [...paths].filter((path) => base.get(path) !== machine.files.get(path));
      const isModified = (path: string) => base.has(path) && machine.files.has(path);
      expect(changes.modified).toBe(differing.filter(isModified).length);
      expect(scope?.outside.count ?? 0).toBe(machine.outside.size);
      // Their order means nothing.
      expect(scope && new Set(scope.only)).toEqual(machine.only && new Set(machine.only));
    }
  }

  /** The repository has what the dictionary says, whole. */
  async checkRepository(): Promise<void> {
    const url = this.#sandbox.path('store');
    for (const name of BRANCHES) {
      const directory = `fresh-${name}`;
      await cloneWorkspace(testContext(this.#sandbox.folder), { url, directory, ref: name });
      const expected = this.#commits.get(this.#tips.get(name)!)!;
      expect(sorted(readTree(this.#root(directory)))).toEqual(sorted(expected));
      const fresh = testContext(this.#root(directory));
      expect(await status(fresh, {})).toMatchObject({ changes: { added: 0, modified: 0, deleted: 0 } });
      expect(await verify(fresh, { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
      rmSync(this.#root(directory), { recursive: true });
    }
  }
}

function refused(error: unknown): 'conflict' {
  if (error instanceof DrayError && error.code === 'conflict') return 'conflict';
  throw error;
}

function setOrDelete(files: Map<string, string>, path: string, content: string | undefined): void {
  if (content === undefined) files.delete(path);
  else files.set(path, content);
}

function sameSets(one: readonly string[] | undefined, other: readonly string[]): boolean {
  return (
    one !== undefined && new Set([...one, ...other]).size === new Set(one).size && one.length === other.length
  );
}

function sameFiles(one: Files, other: Files): boolean {
  return one.size === other.size && [...one].every(([path, content]) => other.get(path) === content);
}

/** Without the many static files, unless they differ. */
function sorted(files: Files): readonly string[] {
  return [...files].map(([path, content]) => `${path}: ${content}`).sort();
}

function readTree(root: string): Files {
  const files = new Map<string, string>();
  const visit = (folder: string) => {
    for (const item of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? item.name : `${folder}/${item.name}`;
      if (path === '.dray') continue;
      if (item.isDirectory()) visit(path);
      else files.set(path, readFileSync(join(root, path), 'utf8'));
    }
  };
  if (existsSync(root)) visit('');
  return files;
}

describe('Workspaces that hold parts of a dataset', () => {
  /** How often each outcome happened, over all seeds. */
  const met = new Map<string, number>();

  it.each(SEEDS)('agree with a dictionary, with the seed %i', async (seed) => {
    using sandbox = createSandbox();
    const model = new Model(sandbox, seed);
    await model.start();
    for (let at = 1; at <= STEPS; at += 1) {
      try {
        await model.step();
        if (at % 10 === 0) await model.checkStatus();
        if (at % 100 === 0) await model.checkRepository();
      } catch (error) {
        throw new Error(`seed ${seed}, step ${at}`, { cause: error });
      }
    }
    await model.checkStatus();
    await model.checkRepository();
    for (const [what, count] of model.counts) met.set(what, (met.get(what) ?? 0) + count);
  });

  it('have met everything that can happen', () => {
    const all = ['pushed', 'push merged', 'push refused', 'pulled', 'pull refused', 'switched'];
    all.push('scope changed', 'scope refused', 'scope stopped');
    expect(all.filter((what) => !met.has(what))).toEqual([]);
  });
});
