/**
 * Four workspaces of one repository, and what the model knows of each: the content that its user has not
 * touched, and the edits. Both together are the files on the disk.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JobContext } from '../../../engine/api/jobs/jobs.ts';
import { type Sandbox, type TestContext, testContext } from '../../../engine/jobs/session/job.fixture.ts';
import type { ObjectStore, RemoteKey } from '../../../engine/remotes/object-store.ts';
import type { WorkspaceState } from '../../../engine/workspace/workspace-folder.ts';
import { type Files, readTree } from '../../partial/partial-files.ts';
import { type Draw, drawFrom } from '../../seeded-draw.ts';
import { differing, HistoryModel } from './history-model.ts';
import { requireRule } from './model-fault.ts';

/** What the user meant: this content, or a removal. */
export type Edits = Map<string, string | undefined>;

export interface Workspace {
  readonly name: string;
  readonly root: string;
  /** What lies here of a commit, apart from edits. In a settled workspace: all of the base. */
  held: Map<string, string>;
  edits: Edits;
  /** Edits that equal what another commit brings: they may count as its changes. */
  readonly uncertain: Set<string>;
  /** What an edit may be based on besides `held`: a command that did not end may have kept a decision. */
  readonly doubts: Map<string, Set<string | undefined>>;
  branch: string;
  base: string | undefined;
  /** It looks at another version, by `pull REF`, until a pull or a switch ends that. */
  isDetached: boolean;
  /** Nothing was cloned here yet. */
  isAbsent: boolean;
  /** Commits of which some files may be here, as a command did not end. */
  arriving: ReadonlySet<string>;
  /** What a push published that ended before its own bookkeeping: the edits, and what they replaced. */
  unconfirmed:
    | {
        readonly edits: Edits;
        readonly held: Files;
        readonly commits: readonly string[];
        /** Of these the one that becomes the base, and not one that merges it with the branch. */
        readonly onBase: readonly string[];
      }
    | undefined;
  /** Such a push while its branch is lost, which nobody can ask: what it sent counts as edits meanwhile. */
  unknown:
    | (Pick<Workspace, 'base' | 'branch'> & { readonly push: NonNullable<Workspace['unconfirmed']> })
    | undefined;
  /** A merge or a revert that is not pushed yet. */
  merging: Pending | undefined;
  /** Where the user decided since the last push: a merge need not have one side's content there. */
  readonly touched: Set<string>;
  /** The index was lost in such a state: more conflicts are possible than the model knows. */
  isFuzzy: boolean;
}

export interface Pending {
  readonly kind: 'merge' | 'revert';
  readonly commit: string;
  /** Of a revert of a merge. */
  readonly parent?: number | undefined;
  /** What the workspace was based on. */
  readonly base: string;
  /** The paths that got the other side's content. */
  readonly taken: ReadonlySet<string>;
  /** Not all files were written. */
  readonly isUnfinished?: boolean;
}

/** Parts of the model that can be left out. */
export const ALL_FEATURES = ['look', 'half', 'lost', 'moved', 'merge'] as const;
export type Feature = (typeof ALL_FEATURES)[number];

export interface World {
  readonly seed: number;
  readonly sandbox: Sandbox;
  readonly features: ReadonlySet<Feature>;
  /** Without faults. */
  readonly store: ObjectStore;
  readonly history: HistoryModel;
  /** By `heads/NAME` or `tags/NAME`. */
  refs: Map<string, string>;
  /** Refs that somebody removed behind everybody's back. */
  readonly lost: Map<string, Uint8Array>;
  readonly workspaces: Workspace[];
  /** By commit and path: the objects of its content. */
  readonly keys: Map<string, ReadonlyMap<string, readonly RemoteKey[]>>;
  /** Contents by the hash of a blob. */
  readonly contents: Map<string, string>;
  /** Contents that some commit has. */
  readonly stored: Set<string>;
  /** Commits that were written since they were last looked at. */
  written: string[];
  readonly counts: Map<string, number>;
  /** What happened, for people. */
  readonly journal: string[];
  draw: Draw;
  at: number;
  nextContent: number;
}

export const BRANCHES = ['main', 'dev', 'exp', 'fix'];
export const TAGS = ['v1', 'v2'];
export const PATHS = ['a', 'b', 'c', 'd/1', 'd/2', 'd/3', 'e/f/1', 'e/f/2', 'e/2', 'g', 'h'];

function newWorkspace(sandbox: Sandbox, name: string): Workspace {
  return {
    name,
    root: join(sandbox.folder, name),
    held: new Map(),
    edits: new Map(),
    uncertain: new Set(),
    doubts: new Map(),
    branch: 'main',
    base: undefined,
    isDetached: false,
    isAbsent: true,
    arriving: new Set(),
    unconfirmed: undefined,
    unknown: undefined,
    merging: undefined,
    touched: new Set(),
    isFuzzy: false,
  };
}

export function createWorld(options: Pick<World, 'seed' | 'sandbox' | 'store' | 'features'>): World {
  return {
    ...options,
    history: new HistoryModel(),
    refs: new Map(),
    lost: new Map(),
    workspaces: ['w0', 'w1', 'w2', 'w3'].map((name) => newWorkspace(options.sandbox, name)),
    keys: new Map(),
    contents: new Map(),
    stored: new Set(),
    written: [],
    counts: new Map(),
    journal: [],
    draw: drawFrom(options.seed),
    at: 0,
    nextContent: 0,
  };
}

export function count(world: World, what: string): void {
  world.counts.set(what, (world.counts.get(what) ?? 0) + 1);
}

/** What a person would have typed, and what came of it. */
export function note(world: World, text: string): void {
  world.journal.push(`${world.at}: ${text}`);
}

export function contextOf(w: Workspace, more: Partial<JobContext> = {}): TestContext {
  return testContext(w.root, { environment: { DRAY_AUTHOR: w.name }, ...more });
}

/** Whether no command has ended half-way here. */
export function isSettled(w: Workspace): boolean {
  return w.arriving.size === 0 && w.unconfirmed === undefined && !w.isFuzzy;
}

/** Its branch was moved to a history without its base. */
export function isReplaced(world: World, w: Workspace): boolean {
  const tip = tipOf(world, w.branch);
  if (w.isDetached || w.base === undefined || tip === undefined) return false;
  // Somebody chose what the branch has now, and some of it is here.
  const chosen = stateOf(w).arriving?.origin?.findLast(({ command }) => command === 'dray pull');
  return !world.history.isIn(chosen?.commit ?? w.base, tip);
}

export function diskOf({ root }: Pick<Workspace, 'root'>): Files {
  return readTree(root);
}

export function expectedDisk({ edits, held }: Workspace): Map<string, string> {
  const files = new Map(held);
  for (const [path, content] of edits) {
    if (content === undefined) files.delete(path);
    else files.set(path, content);
  }
  return files;
}

/** The workspace's state file. */
export function stateOf({ root }: Workspace): WorkspaceState {
  return JSON.parse(readFileSync(join(root, '.dray/state.json'), 'utf8'));
}

/** The commits of which some files may be here, as the workspace knows them. */
export function arrivingOf(w: Workspace): readonly string[] {
  return (stateOf(w).arriving?.origin ?? []).map(({ commit }) => commit);
}

export function pendingOf(w: Workspace): NonNullable<WorkspaceState['merging']>[string] | undefined {
  return stateOf(w).merging?.origin;
}

export function isWorkspace({ root }: Workspace): boolean {
  return existsSync(join(root, '.dray/config.json'));
}

/** The edit may be based on this content, too. */
export function addDoubt({ doubts }: Workspace, path: string, content: string | undefined): void {
  doubts.set(path, new Set([...(doubts.get(path) ?? []), content]));
}

export function setEdit(w: Workspace, path: string, content: string | undefined): void {
  // It may have counted as the arriving commit's: then the new edit is based on that.
  if (w.uncertain.delete(path)) addDoubt(w, path, w.edits.get(path));
  const doubts = w.doubts.get(path);
  if (doubts) {
    w.edits.set(path, content);
    if (doubts.has(content) || w.held.get(path) === content) w.uncertain.add(path);
    return;
  }
  if (w.held.get(path) === content) w.edits.delete(path);
  else w.edits.set(path, content);
}

/** What the workspace's next command may find out first. */
export function beforeCommand(world: World, w: Workspace): void {
  considerLostBranch(world, w);
  forgetLostPush(world, w);
  const { history } = world;
  const isForeign = hasForeign(world, w);
  for (const [path, to] of w.edits) {
    const isArriving = [...w.arriving].some((hash) => history.filesOf(hash).get(path) === to);
    const isBack = isForeign && history.filesOf(w.base).get(path) === to;
    if (isArriving || isBack) w.uncertain.add(path);
  }
}

/** Whether something is arriving that is not between the base and what the branch has. */
export function hasForeign(world: World, w: Workspace): boolean {
  const tip = tipOf(world, w.branch);
  const isOld = (hash: string) => hash !== w.base && world.history.isIn(hash, w.base);
  return [...w.arriving].some((hash) => !world.history.isIn(hash, tip) || isOld(hash));
}

/**
 * A push that did not know its end, and whose branch was moved away from its commit since then: the workspace
 * finds no trace of it, and its edits are edits.
 */
function forgetLostPush(world: World, w: Workspace): void {
  const { unconfirmed } = w;
  const tip = tipOf(world, w.branch);
  if (!unconfirmed || tip === undefined) return;
  if (unconfirmed.commits.some((hash) => world.history.isIn(hash, tip))) return;
  takeBackPush(w);
}

function considerLostBranch({ lost }: World, w: Workspace): void {
  const { base, branch, unconfirmed, unknown } = w;
  if (lost.has(`heads/${branch}`)) {
    if (!unconfirmed || isSettledSince(w, unconfirmed)) return;
    w.unknown = { base, branch, push: unconfirmed };
    takeBackPush(w);
    // The push may have noted already that it had recorded the merge.
    if (pendingOf(w) === undefined) w.merging = undefined;
    return;
  }
  w.unknown = undefined;
  if (unknown?.base !== base || unknown?.branch !== branch) return;
  const disk = expectedDisk(w);
  w.unconfirmed = unknown.push;
  for (const [path, to] of unknown.push.edits) {
    if (to === undefined) w.held.delete(path);
    else w.held.set(path, to);
    if (disk.get(path) === to) w.edits.delete(path);
    else w.edits.set(path, disk.get(path));
  }
}

/** An earlier command has found that the push had succeeded. */
function isSettledSince(w: Workspace, { commits }: NonNullable<Workspace['unconfirmed']>): boolean {
  return stateOf(w).bases.origin !== w.base || arrivingOf(w).some((hash) => commits.includes(hash));
}

/** What the push sent counts as edits again. */
function takeBackPush(w: Workspace): void {
  const { unconfirmed } = w;
  w.unconfirmed = undefined;
  for (const [path, to] of unconfirmed?.edits ?? []) {
    if (!w.edits.has(path)) w.edits.set(path, to);
    const old = unconfirmed!.held.get(path);
    if (old === undefined) w.held.delete(path);
    else w.held.set(path, old);
    if (w.edits.get(path) === old) w.edits.delete(path);
  }
}

export function tipOf(world: World, branch: string): string | undefined {
  return world.refs.get(`heads/${branch}`);
}

/** A text that a person may type for the commit. */
export function typedFor({ draw, history, refs }: World, hash: string): string {
  const names = [...refs].flatMap(([name, tip]) => {
    const steps = history.firstParents(tip).indexOf(hash);
    const short = name.slice(name.indexOf('/') + 1);
    return steps < 0 ? [] : [steps === 0 ? short : `${short}~${steps}`];
  });
  return names.length > 0 && draw.chance(60) ? draw.of(names) : draw.of([hash, hash.slice(0, 12)]);
}

/** The contents of the bin. */
function keptContents({ root }: Workspace): ReadonlySet<string> {
  const bin = join(root, '.dray/kept');
  const found = new Set<string>();
  if (!existsSync(bin)) return found;
  for (const run of readdirSync(bin))
    for (const content of readTree(join(bin, run, 'files')).values()) found.add(content);
  return found;
}

/** Nothing that a user wrote is lost: it is here, in the bin, or in a commit. */
export function checkKept(world: World, w: Workspace, before: Edits): void {
  const wanted = [...before].flatMap(([path, content]) =>
    content === undefined ? [] : [[path, content] as const],
  );
  if (wanted.length === 0) return;
  const disk = w.isAbsent ? new Map<string, string>() : diskOf(w);
  const gone = wanted.filter(([path, content]) => disk.get(path) !== content && !world.stored.has(content));
  if (gone.length === 0) return;
  const here = new Set(disk.values());
  const kept = keptContents(w);
  const lost = gone.filter(([, content]) => !here.has(content) && !kept.has(content));
  requireRule(lost.length === 0, 'an edit was lost', () => ({ workspace: w.name, lost }));
}

export function removeTree(w: Workspace): void {
  rmSync(w.root, { recursive: true, force: true });
}

/** The refs on the store, without those that were removed. */
export async function readStoredRefs(world: World): Promise<Map<string, string>> {
  const refs = new Map<string, string>();
  const { objects } = await world.store.list({ prefix: 'refs/' });
  for (const { key } of objects) {
    const read = await world.store.read(key, { maxBytes: 100_000 });
    const ref = JSON.parse(Buffer.from(read!.bytes).toString()) as { commit: string; state?: string };
    if (ref.state === undefined) refs.set(key.slice('refs/'.length), ref.commit);
  }
  return refs;
}

export function checkDisk(w: Workspace): void {
  if (w.isAbsent) return;
  const [found, expected] = [diskOf(w), expectedDisk(w)];
  const wrong = differing(found, expected);
  requireRule(wrong.length === 0, 'files are not as the model says', () => ({
    workspace: w.name,
    wrong: wrong.map((path) => ({ path, found: found.get(path), expected: expected.get(path) })),
  }));
}
