/** What several machines do to one repository at the same time. */
import { hash as hashOf } from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import type { BlobHash, CommitHash } from '../../engine/model/entry.ts';
import { createMemoryStore } from '../../engine/remotes/memory/memory-store.fixture.ts';
import type { ObjectStore, RemoteKey } from '../../engine/remotes/object-store.ts';
import { readCommit } from '../../engine/repository/commit.ts';
import { objectKey } from '../../engine/repository/keys.ts';
import { listRefs } from '../../engine/repository/refs.ts';
import { readRetention } from '../../engine/repository/retention.ts';
import {
  cloner,
  collector,
  createModelClock,
  firstMissing,
  forgetter,
  keysOf,
  namer,
  puller,
  pusher,
  remover,
  retirer,
  type Writer,
} from './actors.ts';
import { type Actor, type Choose, describeStep, type Faults, runActors } from './scheduler.ts';

/** Each machine does one thing after the other. */
export type Machine = readonly ((world: World) => Actor)[];

export interface World {
  readonly clock: Clock;
  /** A commit that no ref names any more. */
  readonly dropped: CommitHash;
  /** The first commit of the branch, and the base of all machines but the first. */
  readonly older: CommitHash;
  /** What the machine at this place knows. */
  readonly writers: readonly Writer[];
  /** Set once a key is retired: no later commit names it, unless the commit before it does. */
  retired: Retired | undefined;
}

interface Retired {
  readonly key: RemoteKey;
  /** What refs led to then. */
  readonly commits: ReadonlySet<CommitHash>;
}

/**
 * A repository with a branch of two commits, an older clone of its first one, and garbage: a commit of a
 * removed branch with its content (`old`, and a pack).
 */
async function buildWorld(): Promise<Beginning> {
  const store = createMemoryStore();
  const clock = createModelClock();
  const run = (actor: Actor) => actor(store, new AbortController().signal);
  const writer: Writer = { base: undefined };
  await run(pusher(clock, writer, { branch: 'main', files: { a: 'first' } }));
  const { base } = writer;
  await run(pusher(clock, writer, { branch: 'main', files: { b: 'second' } }));
  const other: Writer = { base: undefined };
  await run(pusher(clock, other, { branch: 'gone', files: { o: 'old' } }));
  await run(pusher(clock, other, { branch: 'gone', files: { p: 'packed' }, inPack: true }));
  await run(remover(clock, 'heads/gone'));
  return { stored: await everything(store), dropped: other.base!, newest: writer.base!, older: base! };
}

/** Larger than their rows in the index of a pack. */
const PACKED = { p: 'p'.repeat(200), q: 'q'.repeat(200), r: 'r'.repeat(200) };

/** A pack of three blobs of which the branch needs one: the commit that needs them all is forgotten. */
async function buildSparse(): Promise<Beginning> {
  const store = createMemoryStore();
  const clock = createModelClock();
  const run = (actor: Actor) => actor(store, new AbortController().signal);
  const writer: Writer = { base: undefined };
  await run(pusher(clock, writer, { branch: 'main', files: PACKED, inPack: true }));
  const dropped = writer.base!;
  await run(pusher(clock, writer, { branch: 'main', files: { q: 'first', r: 'first' } }));
  const older = writer.base!;
  await run(pusher(clock, writer, { branch: 'main', files: { b: 'second' } }));
  await run(forgetter(clock, dropped));
  return { stored: await everything(store), dropped, newest: writer.base!, older };
}

async function everything(store: ObjectStore): Promise<Beginning['stored']> {
  const { objects } = await store.list({ prefix: '' });
  return Promise.all(
    objects.map(async ({ key }) => [key, (await store.read(key, { maxBytes: 2 ** 20 }))!.bytes] as const),
  );
}

interface Beginning {
  readonly stored: readonly (readonly [RemoteKey, Uint8Array])[];
  readonly dropped: CommitHash;
  readonly newest: CommitHash;
  readonly older: CommitHash;
}

const BUILDERS = { garbage: buildWorld, 'sparse pack': buildSparse };
/** What the repository has when the machines begin. */
export type Start = keyof typeof BUILDERS;
const beginnings = new Map<Start, Promise<Beginning>>();

export async function createWorld(
  start: Start,
  machines: number,
): Promise<{ store: ObjectStore; world: World }> {
  const beginning = beginnings.get(start) ?? BUILDERS[start]();
  beginnings.set(start, beginning);
  const { dropped, newest, older, stored } = await beginning;
  const clock = createModelClock();
  const store = createMemoryStore({ clock });
  for (const [key, bytes] of stored) await store.put(key, bytes);
  const writers = Array.from({ length: machines }, (_, at) => ({ base: at === 0 ? newest : older }));
  return { store, world: { clock, dropped, older, writers, retired: undefined } };
}

/** As users do it: what was collected is pulled, and a lost race is tried again. */
const push =
  (machine: number, branch: string, files: Record<string, string>, inPack = false) =>
  ({ clock, writers }: World): Actor =>
    pusher(clock, writers[machine]!, { branch, files, inPack });
export const collect = ({ clock }: World): Actor => collector(clock);
const clone = ({ clock }: World): Actor => cloner(clock, 'main');
/** The workspace was on the branch that is removed. */
const rebase =
  ({ dropped, writers }: World): Actor =>
  async () => {
    writers[0]!.base = dropped;
  };
const remove =
  (name: string) =>
  ({ clock }: World): Actor =>
    remover(clock, name);
const name =
  (ref: string, of: (world: World) => CommitHash) =>
  (world: World): Actor =>
    namer(world.clock, ref, of(world));
const mainTip = ({ writers }: World) => writers[0]!.base!;
/** Forgets the first commit of the branch. */
const forget = ({ clock, older }: World): Actor => forgetter(clock, older);
const pull =
  (machine: number) =>
  ({ clock, writers }: World): Actor =>
    puller(clock, writers[machine]!, 'main');

/** Content whose object is damaged, as a repair finds it. */
const DAMAGED = 'second';
/** As a repair does: nobody may take the damaged object for its content any more. */
const retire =
  (world: World): Actor =>
  async (store, signal) => {
    const key = objectKey(hashOf('sha256', DAMAGED) as BlobHash);
    await retirer(world.clock, key)(store, signal);
    world.retired = { key, commits: await commitsOfRefs(store) };
  };
/** What a repair does next: it stores the content again, and commits its new place. */
const restore =
  (machine: number) =>
  ({ clock, writers }: World): Actor =>
    pusher(clock, writers[machine]!, { branch: 'main', files: { b: DAMAGED }, isRestored: true });

const GARBAGE_SCENARIOS: Readonly<Record<string, readonly Machine[]>> = {
  'a push of content that is about to be collected': [[push(0, 'main', { c: 'old' })], [collect]],
  'a push of a pack that is about to be collected': [[push(0, 'main', { p: 'packed' }, true)], [collect]],
  'a push to a new branch': [[push(0, 'new', { c: 'old' })], [collect]],
  'a push that merges': [[push(1, 'main', { c: 'old' })], [collect]],
  'two pushes': [[push(0, 'main', { c: 'old' })], [push(1, 'main', { d: 'old' })]],
  'a tag of the tip': [[name('tags/v1', mainTip)], [collect]],
  'a tag of a commit that no ref names': [[name('tags/v1', ({ dropped }) => dropped)], [collect]],
  'a branch that is made again': [[push(0, 'gone', { c: 'old' })], [collect, collect]],
  'a branch that is made again on its own commit': [
    [rebase, push(0, 'gone', { c: 'new' })],
    [collect, collect],
  ],
  'a branch that is removed and made again': [
    [push(0, 'new', { c: 'old' }), remove('heads/new')],
    [collect, push(1, 'new', { d: 'old' }), collect],
  ],
  'two collectors, and content that comes back': [[collect, push(0, 'main', { c: 'old' })], [collect]],
  'content that comes back while a dead collector still removes it': [
    [collect],
    [collect, push(0, 'main', { c: 'old', o: 'first' }), collect],
  ],
  'a push on a commit that is forgotten meanwhile': [
    [forget, collect],
    [push(1, 'main', { c: 'old' }), pull(1), push(1, 'main', { c: 'first' })],
  ],
  'a tag of a commit that is forgotten meanwhile': [
    [forget, collect],
    [name('tags/v1', ({ older }) => older), collect],
  ],
  'a clone': [[clone], [push(0, 'main', { a: 'other' }), collect]],
  'a push of content whose key is retired': [[push(1, 'main', { c: DAMAGED })], [retire]],
  'a push to a new branch of content whose key is retired': [[push(1, 'new', { c: DAMAGED })], [retire]],
  'a repair beside a collection': [
    [retire, restore(0)],
    [collect, push(1, 'main', { c: DAMAGED })],
  ],
  'a collection that a repair ends': [
    [collect, collect],
    [retire, push(1, 'main', { c: 'old' })],
  ],
};

/** A collection writes the pack anew, and removes the old one. */
const SPARSE_SCENARIOS: Readonly<Record<string, readonly Machine[]>> = {
  'a push on a commit whose pack is replaced': [[push(0, 'main', { c: 'third' })], [collect]],
  'a push that merges on a commit whose pack is replaced': [[push(1, 'main', { c: 'third' })], [collect]],
  'a push to a new branch on a commit whose pack is replaced': [[push(1, 'new', { c: 'third' })], [collect]],
  'two collectors that write one pack anew': [[collect, collect], [collect]],
  'a tag of a forgotten commit whose pack is replaced': [
    [name('tags/v1', ({ dropped }) => dropped)],
    [collect],
  ],
  'a tag of an older commit whose pack is replaced': [[name('tags/v1', ({ older }) => older)], [collect]],
  'a branch that has a blob of the pack, and its removal': [
    [push(1, 'new', { s: PACKED.p }, true), remove('heads/new')],
    [collect],
  ],
  'a clone of a commit whose pack is replaced': [[clone], [collect]],
};

export interface Scenario {
  readonly start: Start;
  readonly machines: readonly Machine[];
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = Object.fromEntries([
  ...Object.entries(GARBAGE_SCENARIOS).map(([key, machines]) => [key, { start: 'garbage', machines }]),
  ...Object.entries(SPARSE_SCENARIOS).map(([key, machines]) => [key, { start: 'sparse pack', machines }]),
]);

type Draw = () => number;

/** What a machine of a crowd may do. */
export const DEEDS: readonly ((machine: number) => Machine[number])[] = [
  () => collect,
  (machine) => push(machine, 'main', { [`c${machine}`]: 'old' }),
  (machine) => push(machine, 'main', { o: 'old', p: 'packed' }, true),
  (machine) => push(machine, 'new', { d: 'old' }),
  (machine) => push(machine, 'gone', { e: 'packed' }),
  () => remove('heads/new'),
  () => name('tags/v1', ({ dropped }) => dropped),
  () => name('tags/v2', mainTip),
  () => name('tags/v3', ({ older }) => older),
  () => forget,
  pull,
  () => clone,
  (machine) => push(machine, 'new', { s: PACKED.p }, true),
  () => retire,
  (machine) => push(machine, 'main', { [`d${machine}`]: DAMAGED }),
  restore,
];

/** A machine that collects, and others that do one or two things each. */
export function drawCrowd(count: number, draw: Draw): Scenario {
  const start = draw() < 0.5 ? 'garbage' : 'sparse pack';
  const deed = (machine: number) => DEEDS[Math.floor(draw() * DEEDS.length)]!(machine);
  const machines = Array.from({ length: count }, (_, machine) => {
    const first = machine === 0 ? collect : deed(machine);
    return draw() < 0.5 ? [first] : [first, deed(machine)];
  });
  return { start, machines };
}

/** A user meets these: somebody else was first, the commit is gone, or too many answers were lost. */
export const REFUSALS = new Set(['conflict', 'notFound', 'unreachable']);

/** Runs the machines in the chosen order, then checks that every ref can be cloned whole. */
export async function runScenario(
  { machines, start }: Scenario,
  choose: Choose,
  faults: Faults,
): Promise<number> {
  const { store, world } = await createWorld(start, machines.length);
  const taken: string[] = [];
  const actors = machines.map(
    (machine): Actor =>
      async (own, signal) => {
        for (const act of machine) {
          try {
            await act(world)(own, signal);
          } catch (error) {
            if (!REFUSALS.has((error as { code?: string }).code ?? '')) throw error;
          }
        }
      },
  );
  const noting: Choose = (steps, at) => {
    const choice = choose(steps, at);
    taken.push(describeStep(steps[choice]!));
    return choice;
  };
  try {
    const { failures, limbo } = await runActors(store, actors, noting, faults);
    for (const failure of failures) if (failure !== undefined) throw failure;
    await checkRefs(store, 'after the run');
    if (world.retired) await checkRetired(store, world.retired);
    const collectAgain = () => collect(world)(store, new AbortController().signal);
    await collectAgain();
    await checkRefs(store, 'after another collection');
    for (const happen of limbo) await happen().catch(() => {});
    await checkRefs(store, 'after what killed processes had sent');
    await collectAgain();
    await checkRefs(store, 'at the end');
    if (world.retired) await checkRetired(store, world.retired);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${taken.join('\n')}`, { cause: error });
  }
  return taken.length;
}

async function commitsOfRefs(store: ObjectStore): Promise<ReadonlySet<CommitHash>> {
  const refs = [...(await listRefs(store, 'heads')), ...(await listRefs(store, 'tags'))];
  // The loop also visits what it adds.
  const commits = new Set(refs.map(({ commit }) => commit));
  for (const hash of commits)
    for (const parent of (await readCommit(store, hash)).parents) commits.add(parent);
  return commits;
}

async function checkRetired(store: ObjectStore, { commits, key }: Retired): Promise<void> {
  const names = async (hash: CommitHash) => (await keysOf(store, hash)).has(key);
  for (const hash of await commitsOfRefs(store)) {
    if (commits.has(hash) || !(await names(hash))) continue;
    const { parents } = await readCommit(store, hash);
    if (!(await Promise.all(parents.map(names))).includes(true))
      throw new Error(`after the run, a new commit names ${key}, which was retired`);
  }
}

async function checkRefs(store: ObjectStore, when: string): Promise<void> {
  const refs = [...(await listRefs(store, 'heads')), ...(await listRefs(store, 'tags'))];
  const forgotten = new Set((await readRetention(store))?.forgotten);
  const named = new Set(refs.map(({ commit }) => commit));
  for (const { commit: tip, name: ref } of refs) {
    const seen = new Set<CommitHash>();
    for (const open = [tip]; open.length > 0; ) {
      const hash = open.pop()!;
      if (seen.has(hash)) continue;
      seen.add(hash);
      if (forgotten.has(hash) && !named.has(hash)) {
        open.push(...(await readCommit(store, hash)).parents);
        continue;
      }
      const missing = await firstMissing(store, hash).catch((error: Error) => error.message);
      if (missing !== undefined) throw new Error(`${when}, ${ref} lacks ${missing}`);
      open.push(...(await readCommit(store, hash)).parents);
    }
  }
}
