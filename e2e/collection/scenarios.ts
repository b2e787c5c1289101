/** What several machines do to one repository at the same time. */
import type { Clock } from '../../engine/base/clock.ts';
import type { CommitHash } from '../../engine/model/entry.ts';
import { createMemoryStore } from '../../engine/remotes/memory/memory-store.fixture.ts';
import type { ObjectStore, RemoteKey } from '../../engine/remotes/object-store.ts';
import { readCommit } from '../../engine/repository/commit.ts';
import { listRefs } from '../../engine/repository/refs.ts';
import { readRetention } from '../../engine/repository/retention.ts';
import {
  cloner,
  collector,
  createModelClock,
  firstMissing,
  forgetter,
  namer,
  puller,
  pusher,
  remover,
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
  const { objects } = await store.list({ prefix: '' });
  const stored = await Promise.all(
    objects.map(async ({ key }) => [key, (await store.read(key, { maxBytes: 2 ** 20 }))!.bytes] as const),
  );
  return { stored, dropped: other.base!, newest: writer.base!, older: base! };
}

interface Beginning {
  readonly stored: readonly (readonly [RemoteKey, Uint8Array])[];
  readonly dropped: CommitHash;
  readonly newest: CommitHash;
  readonly older: CommitHash;
}

let beginning: Promise<Beginning> | undefined;

async function createWorld(machines: number): Promise<{ store: ObjectStore; world: World }> {
  beginning ??= buildWorld();
  const { dropped, newest, older, stored } = await beginning;
  const clock = createModelClock();
  const store = createMemoryStore({ clock });
  for (const [key, bytes] of stored) await store.put(key, bytes);
  const writers = Array.from({ length: machines }, (_, at) => ({ base: at === 0 ? newest : older }));
  return { store, world: { clock, dropped, older, writers } };
}

/** As users do it: what was collected is pulled, and a lost race is tried again. */
const push =
  (machine: number, branch: string, files: Record<string, string>, inPack = false) =>
  ({ clock, writers }: World): Actor =>
    pusher(clock, writers[machine]!, { branch, files, inPack });
const collect = ({ clock }: World): Actor => collector(clock);
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

export const SCENARIOS: Readonly<Record<string, readonly Machine[]>> = {
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
};

type Draw = () => number;

/** What a machine of a crowd may do. */
const DEEDS: readonly ((machine: number) => Machine[number])[] = [
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
];

/** A machine that collects, and others that do one or two things each. */
export function drawCrowd(machines: number, draw: Draw): readonly Machine[] {
  const deed = (machine: number) => DEEDS[Math.floor(draw() * DEEDS.length)]!(machine);
  return Array.from({ length: machines }, (_, machine) => {
    const first = machine === 0 ? collect : deed(machine);
    return draw() < 0.5 ? [first] : [first, deed(machine)];
  });
}

/** A user meets these: somebody else was first, the commit is gone, or too many answers were lost. */
const REFUSALS = new Set(['conflict', 'notFound', 'unreachable']);

/** Runs the machines in the chosen order, then checks that every ref can be cloned whole. */
export async function runScenario(
  machines: readonly Machine[],
  choose: Choose,
  faults: Faults,
): Promise<number> {
  const { store, world } = await createWorld(machines.length);
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
    const collectAgain = () => collect(world)(store, new AbortController().signal);
    await collectAgain();
    await checkRefs(store, 'after another collection');
    for (const happen of limbo) await happen().catch(() => {});
    await checkRefs(store, 'after what killed processes had sent');
    await collectAgain();
    await checkRefs(store, 'at the end');
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${taken.join('\n')}`, { cause: error });
  }
  return taken.length;
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
