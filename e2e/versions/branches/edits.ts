/** What people and programs do to the files of a workspace: edits, `dray restore`, a lost index. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { restore } from '../../../engine/jobs/working-copy/restore.ts';
import { foldersOf, removeAt, writeAt } from '../../partial/partial-files.ts';
import { attempt } from './attempts.ts';
import { requireRule } from './model-fault.ts';
import { describe, settleOnBase } from './pushes.ts';
import type { RunFault } from './run-faults.ts';
import { knowContent } from './stored-history.ts';
import {
  beforeCommand,
  checkDisk,
  count,
  diskOf,
  expectedDisk,
  isSettled,
  note,
  PATHS,
  setEdit,
  stateOf,
  typedFor,
  type Workspace,
  type World,
} from './world.ts';

export function editFiles(world: World, w: Workspace): void {
  const { draw } = world;
  for (let left = 1 + draw.below(3); left > 0; left -= 1) {
    const path = draw.of(PATHS);
    const now = expectedDisk(w).get(path);
    if (now !== undefined && draw.chance(40)) {
      setFile(world, w, path, undefined);
      // Half of them move.
      if (draw.chance(50)) setFile(world, w, draw.of(PATHS), now);
    } else setFile(world, w, path, newContent(world, path));
  }
}

export function setFile(world: World, w: Workspace, path: string, content: string | undefined): void {
  const was = expectedDisk(w).get(path);
  if (content === was) return;
  if (content === undefined) removeAt(w.root, path, { withFolders: true });
  else {
    knowContent(world, content);
    writeAt(w.root, path, content);
  }
  setEdit(w, path, content);
  w.touched.add(path);
  note(world, `${w.name}: ${content === undefined ? `rm ${path}` : `echo ${content} > ${path}`}`);
}

/** Sometimes what a commit had there, as someone who takes a change back. */
function newContent(world: World, path: string): string {
  const { draw, history } = world;
  if (draw.chance(25) && history.commits.size > 0) {
    const commit = draw.of([...history.commits.values()]);
    const old = commit.files.get(path);
    if (old !== undefined) return old;
  }
  world.nextContent += 1;
  return draw.chance(6) ? `link:to-${world.at}` : `${world.at}.${world.nextContent}`;
}

/** Without `--from`: what the user's edits are based on. */
export async function restorePaths(world: World, w: Workspace, fault: RunFault): Promise<void> {
  const { draw, history } = world;
  beforeCommand(world, w);
  if (w.base === undefined || w.isFuzzy || w.uncertain.size > 0) return;
  const from = draw.chance(50) ? undefined : draw.of([...history.ancestorsOf(w.base)]);
  const typed = from === undefined ? {} : { from: typedFor(world, from) };
  const path = draw.of([...PATHS, ...PATHS.flatMap(foldersOf), '.']);
  const source = from === undefined ? w.held : history.filesOf(from);
  const isNamed = (one: string) => path === '.' || one === path || one.startsWith(`${path}/`);
  // Nobody can tell what an edit is based on that met a command which did not end.
  if (from === undefined && [...w.doubts.keys()].some(isNamed)) return;
  const before = diskOf(w);
  const exact = draw.chance(30);
  const wanted = [...source.keys(), ...(exact ? before.keys() : [])].filter(isNamed);
  const request = { paths: [join(w.root, path)], exact, ...typed };
  const outcome = await attempt(world, w, { fault }, (context) => restore(context, request));
  const words = `restore ${path}${from === undefined ? '' : ` --from ${typed.from}`}${exact ? ' --exact' : ''}`;
  note(world, `${w.name}: ${words}${describe(outcome, fault)}`);
  const { error, isMet, value } = outcome;
  const after = diskOf(w);
  if (value?.failed === 0) {
    for (const one of wanted) {
      setEdit(w, one, source.get(one));
      w.touched.add(one);
    }
    count(world, exact ? 'restored exactly' : 'restored');
  } else if (isMet) {
    for (const one of wanted) {
      const now = after.get(one);
      const isEither = now === before.get(one) || now === source.get(one);
      requireRule(isEither, 'a restore that did not end left something else', () => ({ path: one, now }));
      if (now !== source.get(one)) continue;
      setEdit(w, one, now);
      w.touched.add(one);
    }
    count(world, 'restore did not end');
  } else {
    const isNothing = wanted.length === 0 && error?.code === 'notFound';
    requireRule(isNothing, 'a restore failed', () => error?.message ?? outcome.context.events);
  }
  // It settles a push that did not know its end.
  if (w.unconfirmed && stateOf(w).bases.origin !== w.base) settleOnBase(world, w);
  checkDisk(w);
}

/** In a workspace that is not settled, some edits look like what an unfinished command brought. */
export function loseIndex(world: World, w: Workspace): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(w.root, `.dray/index.db${suffix}`), { force: true });
  note(world, `${w.name}: rm .dray/index.db`);
  count(world, 'lost the index');
  w.unknown = undefined;
  if (isSettled(w)) return;
  w.isFuzzy = true;
  const known = [w.base, ...w.arriving].map((hash) => world.history.filesOf(hash));
  for (const [path, to] of w.edits) if (known.some((files) => files.get(path) === to)) w.uncertain.add(path);
  if (w.unconfirmed === undefined) return;
  // The workspace no longer knows that these were published.
  for (const [path, to] of w.unconfirmed.edits) {
    if (w.edits.has(path) || expectedDisk(w).get(path) !== to) continue;
    const old = w.unconfirmed.held.get(path);
    w.edits.set(path, to);
    w.uncertain.add(path);
    if (old === undefined) w.held.delete(path);
    else w.held.set(path, old);
  }
}
