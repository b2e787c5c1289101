/** Branches and tags: made, moved, removed; and refs that somebody removes behind everybody's back. */

import type { RefRequest } from '../../../engine/api/jobs/jobs.ts';
import { branch, tag } from '../../../engine/jobs/history/refs.ts';
import { switchBranch } from '../../../engine/jobs/pull/switch.ts';
import type { RemoteKey } from '../../../engine/remotes/object-store.ts';
import { attempt } from './attempts.ts';
import { NO_FAULT, settleBring } from './brings.ts';
import { differing } from './history-model.ts';
import { requireRule } from './model-fault.ts';
import { describe } from './pushes.ts';
import {
  BRANCHES,
  count,
  note,
  readStoredRefs,
  TAGS,
  typedFor,
  type Workspace,
  type World,
} from './world.ts';

/** Names the workspace's commit or another one; moves a name that exists. */
export async function nameCommit(world: World, w: Workspace): Promise<void> {
  const { draw, history, refs } = world;
  if (w.base === undefined || refs.size === 0) return;
  const isTag = draw.chance(60);
  // Without this part of the model a branch on which somebody is moves only by pushes.
  const isFree = (name: string) =>
    world.features.has('moved') || world.workspaces.every((one) => one.branch !== name);
  const name = draw.of(isTag ? TAGS : BRANCHES);
  const key = `${isTag ? 'tags' : 'heads'}/${name}`;
  if ((!isTag && !isFree(name)) || world.lost.has(key)) return;
  const given =
    w.unconfirmed || draw.chance(50)
      ? draw.of([...history.ancestorsOf(draw.of([...refs.values()]))])
      : undefined;
  const commit = given ?? w.base;
  const isMove = refs.has(key);
  const force = isMove && draw.chance(70);
  const request: RefRequest = {
    name,
    ...(given === undefined ? {} : { ref: typedFor(world, given) }),
    ...(force ? { force } : {}),
  };
  const expected = isMove && refs.get(key) !== commit && !force ? refs : new Map([...refs, [key, commit]]);
  const outcome = await attempt(world, w, { fault: NO_FAULT }, (context) =>
    (isTag ? tag : branch)(context, request),
  );
  note(
    world,
    `${w.name}: ${isTag ? 'tag' : 'branch'} ${name} ${commit.slice(0, 8)}${force ? ' -f' : ''}${describe(outcome)}`,
  );
  await expectRefs(world, expected);
  requireRule((outcome.error === undefined) === (expected !== refs), 'a name was given, or was not', () => ({
    name,
    message: outcome.error?.message,
  }));
  count(world, isTag ? 'tagged' : 'branched');
}

export async function removeName(world: World, w: Workspace): Promise<void> {
  const { draw, refs } = world;
  const isFree = (key: string) =>
    key !== 'heads/main' && world.workspaces.every((one) => key !== `heads/${one.branch}`);
  const free = [...refs.keys()].filter(isFree).sort();
  if (free.length === 0) return;
  const key = draw.of(free);
  const [, name] = key.split('/');
  const request = { name: name!, remove: true };
  const job = key.startsWith('tags/') ? tag : branch;
  const outcome = await attempt(world, w, { fault: NO_FAULT }, (context) => job(context, request));
  note(world, `${w.name}: remove ${key}${describe(outcome)}`);
  requireRule(outcome.error === undefined, 'a name cannot be removed', () => outcome.error!.message);
  await expectRefs(world, new Map([...refs].filter(([one]) => one !== key)));
  count(world, 'name removed');
}

export async function switchToNew(world: World, w: Workspace): Promise<void> {
  const { draw, refs } = world;
  const free = BRANCHES.filter((name) => !refs.has(`heads/${name}`) && !world.lost.has(`heads/${name}`));
  if (w.base === undefined || free.length === 0 || w.arriving.size > 0) return;
  const name = draw.of(free);
  const request = { name, create: true };
  const outcome = await attempt(world, w, { fault: NO_FAULT }, (context) => switchBranch(context, request));
  note(world, `${w.name}: switch -c ${name}${describe(outcome)}`);
  const found = (await readStoredRefs(world)).get(`heads/${name}`);
  // A push that did not know its end is settled first, unless the index is lost with what it recorded.
  const targets = [...(w.unconfirmed?.commits ?? []), ...(w.unconfirmed && !w.isFuzzy ? [] : [w.base])];
  const target = targets.find((one) => one === found) ?? targets[0]!;
  await expectRefs(world, new Map([...refs, [`heads/${name}`, target]]));
  settleBring(world, w, outcome, { target, decide: () => 'stop', branch: name, words: 'switch -c' });
}

/** Somebody removes a branch's object by mistake, or puts one back. */
export async function loseOrReturnRef(world: World): Promise<void> {
  const { draw, lost, refs, store } = world;
  if (lost.size > 0 && draw.chance(60)) return await returnRef(world, draw.of([...lost.keys()]));
  const heads = [...refs.keys()].filter((one) => one.startsWith('heads/')).sort();
  if (heads.length === 0 || refs.size === 1) return;
  const name = draw.of(heads);
  const key = `refs/${name}` as RemoteKey;
  const { bytes } = (await store.read(key, { maxBytes: 100_000 }))!;
  await store.delete([key]);
  lost.set(name, bytes);
  refs.delete(name);
  note(world, `rm store/${key}`);
  count(world, 'lost a ref');
}

export async function returnRef(world: World, name: string): Promise<void> {
  const bytes = world.lost.get(name)!;
  const { written } = await world.store.put(`refs/${name}` as RemoteKey, bytes, {
    condition: { absent: true },
  });
  requireRule(written, 'a branch that was lost is there again', () => name);
  world.lost.delete(name);
  world.refs.set(name, JSON.parse(Buffer.from(bytes).toString()).commit);
  note(world, `put back store/refs/${name}`);
}

export async function expectRefs(world: World, expected: Map<string, string>): Promise<void> {
  const found = await readStoredRefs(world);
  const wrong = differing(found, expected);
  requireRule(wrong.length === 0, 'refs are not as the model says', () => ({
    wrong: wrong.map((name) => ({ name, found: found.get(name), expected: expected.get(name) })),
  }));
  world.refs = found;
}
