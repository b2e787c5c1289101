/** Workspaces that hold parts, and dictionaries of what each of them and each commit has. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import { branch } from '../../engine/jobs/history/refs.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { compileScope } from '../../engine/model/scope.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';
import {
  clashes,
  clashingWith,
  type Files,
  foldersOf,
  readTree,
  removeAt,
  setOrDelete,
  sorted,
  writeAt,
} from './partial-files.ts';

const FOLDERS = ['', 'a/', 'b/', 'b/sub/', 'x/', 'x/deep/er/', 'y/'];
/** Two differ in case alone. */
const NAMES = ['1.csv', '2.bin', '3', '4.csv', '4.CSV'];
/** Folders that become files, and files that become folders. */
const SWAPPED = ['y', 'b/sub', 'x/deep', 'a/3/in'];
export const PATHS = [...FOLDERS.flatMap((folder) => NAMES.map((name) => folder + name)), ...SWAPPED];
const PATTERNS = [
  'a',
  'b/',
  'b/sub',
  'x',
  'x/deep',
  '*.csv',
  'y/*.bin',
  '/3',
  'x/*',
  '?.bin',
  '*.none',
  'nowhere/',
];
export const BRANCHES = ['main', 'trial'];
/** Lie between the others, so that most segments are outside of every part. */
const STATIC_FILES = 3_000;

export interface Machine {
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

export interface Sides {
  readonly base: Files;
  readonly target: Files;
}

export class PartialMachines {
  protected readonly sandbox: Sandbox;
  protected readonly draw: Draw;
  protected readonly commits = new Map<string, Files>();
  protected readonly tips = new Map<string, string>();
  readonly machines: Machine[] = [];
  readonly counts = new Map<string, number>();
  protected content = 0;

  protected readonly isEncrypted: boolean;
  protected password = 'secret';
  /** Commits that may be forgotten. */
  protected readonly maybeGone = new Set<string>();

  constructor(sandbox: Sandbox, seed: number) {
    this.sandbox = sandbox;
    this.draw = drawFrom(seed);
    this.isEncrypted = seed % 3 === 0;
  }

  protected root = (name: string) => join(this.sandbox.folder, name);
  protected contextIn = (folder: string) =>
    testContext(folder, { environment: { DRAY_AUTHOR: 'tester', DRAY_PASSWORD: this.password } });
  protected context = ({ name }: Pick<Machine, 'name'>) => this.contextIn(this.root(name));
  protected count = (what: string) => this.counts.set(what, (this.counts.get(what) ?? 0) + 1);

  async start(): Promise<void> {
    const files = new Map<string, string>();
    for (let at = 0; at < STATIC_FILES; at += 1) files.set(`m/${String(at).padStart(4, '0')}`, `${at % 7}`);
    for (const path of PATHS) {
      if (!SWAPPED.includes(path) && this.draw.chance(60)) files.set(path, this.newContent());
    }
    files.set('zz', 'last');
    for (const [path, content] of files) writeAt(this.root('whole'), path, content);
    const whole = this.context({ name: 'whole' });
    const made = await initWorkspace(whole, {
      remoteUrl: this.sandbox.path('store'),
      layout: { packBelow: 64, chunkAbove: 2_000 },
      ...(this.isEncrypted ? { encrypt: true } : {}),
    });
    // It opens without the cost of a password.
    this.password = made.recoveryKey ?? this.password;
    const { commit } = await push(this.context({ name: 'whole' }), {});
    await branch(this.context({ name: 'whole' }), { name: 'trial' });
    this.commits.set(commit!, files);
    for (const name of BRANCHES) this.tips.set(name, commit!);
    const machine = { branch: 'main', base: commit!, outside: new Map() };
    this.machines.push({ ...machine, name: 'whole', only: undefined, files: new Map(files) });
    for (const name of ['one', 'two', 'three']) {
      const only = this.patterns();
      const url = this.sandbox.path('store');
      await cloneWorkspace(this.contextIn(this.sandbox.folder), { url, directory: name, only });
      const { holds } = compileScope(only);
      const held = new Map([...files].filter(([path]) => holds(path)));
      this.machines.push({ ...machine, outside: new Map(), name, only, files: held });
    }
  }

  protected patterns(): readonly string[] {
    return [...new Set(Array.from({ length: 1 + this.draw.below(3) }, () => this.draw.of(PATTERNS)))];
  }

  protected newContent(): string {
    this.content += 1;
    if (this.draw.chance(8)) return `link:${this.draw.of(['3', '../zz', 'nowhere'])}`;
    return this.draw.chance(30) ? `v${this.draw.below(3)}` : `content ${this.content}`;
  }

  protected holds({ only }: Machine): (path: string) => boolean {
    return only ? compileScope(only).holds : () => true;
  }

  protected async edit(machine: Machine): Promise<void> {
    for (let left = 1 + this.draw.below(3); left > 0; left -= 1) {
      const path = this.draw.of(PATHS);
      const isHeld = this.holds(machine)(path);
      // Most people stay within their part.
      if (!isHeld && !this.draw.chance(15)) continue;
      const place = isHeld ? machine.files : machine.outside;
      const root = this.root(machine.name);
      // Where a file may come, an empty folder would be in its way, which the dictionary does not know.
      const mayBeFile = foldersOf(path).some((folder) => PATHS.includes(folder));
      const withFolders = this.draw.chance(70) || mayBeFile;
      if (place.has(path) && this.draw.chance(40)) {
        // Half of them move, perhaps across the border.
        const content = place.get(path)!;
        place.delete(path);
        removeAt(root, path, { withFolders });
        if (this.draw.chance(50)) this.put(machine, this.draw.of(PATHS), content);
        continue;
      }
      this.put(machine, path, this.newContent());
    }
  }

  /** What is in its way goes, as a person would have to do. */
  protected put(machine: Machine, path: string, content: string): void {
    const root = this.root(machine.name);
    for (const place of [machine.files, machine.outside]) {
      for (const other of clashingWith(place, new Map([[path, content]]))) {
        place.delete(other);
        removeAt(root, other, { withFolders: true });
      }
    }
    (this.holds(machine)(path) ? machine.files : machine.outside).set(path, content);
    writeAt(root, path, content);
  }

  /** The paths that both sides changed differently, within what the machine holds. */
  protected conflicts(machine: Machine, { base, target }: Sides): string[] {
    const holds = this.holds(machine);
    const paths = new Set([...base.keys(), ...target.keys(), ...machine.files.keys()].filter(holds));
    return [...paths].filter((path) => {
      const [old, ours, theirs] = [base.get(path), machine.files.get(path), target.get(path)];
      return old !== ours && old !== theirs && ours !== theirs;
    });
  }

  protected sides(machine: Machine, name = machine.branch): Sides {
    return { base: this.commits.get(machine.base)!, target: this.commits.get(this.tips.get(name)!)! };
  }

  protected withOurs(machine: Machine, base: Files, onto: Files): Files {
    const holds = this.holds(machine);
    const next = new Map(onto);
    for (const path of base.keys()) if (holds(path) && !machine.files.has(path)) next.delete(path);
    for (const [path, content] of machine.files) if (base.get(path) !== content) next.set(path, content);
    return next;
  }

  /** A workspace on a commit that may be forgotten: it pulls, or is cloned again. */
  protected expectGone(machine: Machine, outcome: Refused): void {
    expect(['gone', 'goneForGood']).toContain(outcome);
    this.count(outcome);
    expect(this.maybeGone.has(machine.base)).toBe(true);
  }

  protected async cloneAgain(machine: Machine): Promise<void> {
    rmSync(this.root(machine.name), { recursive: true });
    const url = this.sandbox.path('store');
    const { branch: ref, name: directory, only } = machine;
    await cloneWorkspace(this.contextIn(this.sandbox.folder), {
      url,
      directory,
      ref,
      ...(only ? { only } : {}),
    });
    machine.base = this.tips.get(ref)!;
    machine.outside.clear();
    machine.files.clear();
    for (const [path, content] of this.commits.get(machine.base)!)
      if (this.holds(machine)(path)) machine.files.set(path, content);
  }

  protected baseOf(machine: Machine): string {
    return this.stateOf(machine).bases.origin;
  }

  /** What it holds after the sides were merged, by theirs where they conflict. */
  protected merged(machine: Machine, { base, target }: Sides): Files {
    const holds = this.holds(machine);
    const files = new Map(machine.files);
    for (const path of new Set([...base.keys(), ...target.keys()]))
      if (base.get(path) !== target.get(path) && holds(path)) setOrDelete(files, path, target.get(path));
    return files;
  }

  /** Whether a file and a folder meet, or conflict in such a place. */
  protected isSwapped(machine: Machine, sides: Sides): boolean {
    if (clashes(this.merged(machine, sides), machine.outside)) return true;
    return this.conflicts(machine, sides).some((path) =>
      SWAPPED.some((place) => path === place || path.startsWith(`${place}/`) || place.startsWith(`${path}/`)),
    );
  }

  protected stateOf = ({ name }: Machine) =>
    JSON.parse(readFileSync(join(this.root(name), '.dray/state.json'), 'utf8'));

  protected loseIndex({ name }: Machine): void {
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(this.root(name), `.dray/index.db${suffix}`), { force: true });
  }

  protected check(machine: Machine): void {
    const expected = new Map([...machine.files, ...machine.outside]);
    expect(sorted(readTree(this.root(machine.name)))).toEqual(sorted(expected));
  }

  /** What each reports is what the dictionary says. */
  async checkStatus(): Promise<void> {
    for (const machine of this.machines) {
      this.check(machine);
      const base = this.commits.get(machine.base)!;
      const found = await status(this.context(machine), {}).catch(refused);
      if (typeof found === 'string') {
        this.expectGone(machine, found);
        await this.cloneAgain(machine);
        continue;
      }
      const { changes, scope } = found;
      const holds = this.holds(machine);
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
    const url = this.sandbox.path('store');
    for (const name of BRANCHES) {
      const directory = `fresh-${name}`;
      await cloneWorkspace(this.contextIn(this.sandbox.folder), { url, directory, ref: name });
      const expected = this.commits.get(this.tips.get(name)!)!;
      expect(sorted(readTree(this.root(directory)))).toEqual(sorted(expected));
      const fresh = this.contextIn(this.root(directory));
      expect(await status(fresh, {})).toMatchObject({ changes: { added: 0, modified: 0, deleted: 0 } });
      const found = await verify(fresh, { readDataPercent: 100 });
      expect(found).toMatchObject({ missing: 0, damaged: 0 });
      // A part is no reason to look at less.
      const { files, objects, readObjects } = found;
      for (const machine of this.machines)
        expect(await verify(this.context(machine), { readDataPercent: 100 })).toMatchObject({
          ...{ missing: 0, damaged: 0, files, objects, readObjects },
        });
      rmSync(this.root(directory), { recursive: true });
    }
  }
}

export type Refused = 'conflict' | 'gone' | 'goneForGood' | 'outsideScope' | 'absent' | 'namesNothing';

export function refused(error: unknown): Refused {
  if (!(error instanceof DrayError)) throw error;
  const { code, data } = error;
  if (code === 'conflict') return data.reason === 'baseCollected' ? 'gone' : 'conflict';
  if (data.reason === 'outsideScope') return 'outsideScope';
  if (code === 'notFound' && data.path !== undefined) return 'absent';
  if (code === 'notFound' && data.patterns !== undefined) return 'namesNothing';
  if (code === 'forgotten') return data.reason === 'base' ? 'goneForGood' : 'gone';
  throw error;
}
