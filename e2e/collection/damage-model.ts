/**
 * Machines that push, collect, tag and forget one after the other, some of them killed, over a store of which
 * one object at a time is damaged, between two deeds or between two requests of one. What must hold:
 *
 * - Content that is live and readable beside the damage stays readable.
 * - Once the damage is put back, everything that is live is whole.
 * - A verification names what is damaged if that costs live content.
 */
import { hash as hashOf } from 'node:crypto';
import { findDamage } from '../../engine/jobs/history/verify.ts';
import type { CommitHash, FileEntry } from '../../engine/model/entry.ts';
import { DEFAULT_LAYOUT } from '../../engine/model/layout.ts';
import type { ObjectStore, RemoteKey } from '../../engine/remotes/object-store.ts';
import { wrapStore } from '../../engine/remotes/wrappers/wrap-store.ts';
import { readCommit } from '../../engine/repository/commit.ts';
import { readDescriptor } from '../../engine/repository/descriptor.ts';
import { COLLECTION_KEY, DESCRIPTOR_KEY, objectKey, packKey } from '../../engine/repository/keys.ts';
import { readEntries } from '../../engine/repository/manifest/read-entries.ts';
import { withRelocations } from '../../engine/repository/packs/relocated-reads.ts';
import { listRefNames, readRef } from '../../engine/repository/refs.ts';
import { readRetention } from '../../engine/repository/retention.ts';
import { createAdaptiveLimit } from '../../engine/transfer/limit/adaptive-limit.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';
import { REPOSITORY } from './actors.ts';
import { type Damage, damageOne, putBack } from './damage.ts';
import { randomChoice } from './explore.ts';
import { collect, createWorld, DEEDS, REFUSALS, type Start, type World } from './scenarios.ts';
import { type Actor, type Run, runActors } from './scheduler.ts';

const MACHINES = 3;
const STEPS_OF_WORLD = 16;
/** Beside damage somebody may also meet these. */
const DAMAGE_CODES = new Set([...REFUSALS, 'damaged', 'formatTooNew', 'forgotten']);

/** @returns The damage that happened, by its way and kind, and how often. */
export async function runDamageModel(seed: number, steps: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let done = 0, world = 0; done < steps; done += STEPS_OF_WORLD, world += 1)
    await runWorld(drawFrom(seed * 1_000_003 + world), counts).catch((cause: Error) => {
      throw new Error(`DRAY_MODEL_SEED=${seed}, world ${world}: ${cause.message}`, { cause });
    });
  return counts;
}

async function runWorld(draw: Draw, counts: Map<string, number>): Promise<void> {
  const start: Start = draw.chance(35) ? 'garbage' : 'sparse pack';
  const { store, world } = await createWorld(start, MACHINES);
  await store.put(DESCRIPTOR_KEY, descriptorBytes());
  const taken: string[] = [start];
  try {
    const harm = createHarm(store, draw, (what) => {
      taken.push(what);
      count(counts, what);
    });
    const limbo: LateRequest[] = [];
    for (let step = 0; step < STEPS_OF_WORLD; step += 1) {
      if (draw.chance(harm.damage ? 25 : 40)) await harm.change();
      else if (limbo.length > 0 && draw.chance(20)) {
        taken.push('late');
        const { damagesBefore, happen } = limbo.shift()!;
        await happen().catch(() => {});
        if (damagesBefore < harm.damages) await harm.settle();
      } else {
        const [name, deed] = drawDeed(draw, world);
        taken.push(name);
        const damagesBefore = harm.damages;
        const late = await perform(store, deed, draw, harm);
        limbo.push(...late.map((happen) => ({ damagesBefore, happen })));
      }
      await harm.check();
    }
    await harm.end();
    for (const { happen } of limbo) await happen().catch(() => {});
    await checkWhole(store);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${taken.join('\n')}`, { cause: error });
  }
}

/** A request of a killed machine, which happens later or never. */
interface LateRequest {
  /** So many damages had begun before its deed. */
  readonly damagesBefore: number;
  readonly happen: () => Promise<unknown>;
}

function descriptorBytes(): Uint8Array {
  const { chunkAbove, chunkSize, packBelow, packTarget } = DEFAULT_LAYOUT;
  const layout = { packBelow, packTarget, chunkAbove, chunkSize };
  const facts = { id: REPOSITORY, created: '2026-01-31T12:00:00.000Z', hash: 'sha256', layout };
  return Buffer.from(JSON.stringify({ format: 1, required: ['collection'], ...facts, encryption: null }));
}

interface Harm {
  /** The damage that is there now. */
  readonly damage: DamageUnderWay | undefined;
  /** How many damages have begun. */
  readonly damages: number;
  /** Damages an object, or puts back what is damaged. */
  change(): Promise<void>;
  /** What must hold now. */
  check(): Promise<void>;
  /**
   * After a deed in which damage has begun, and after a late request that was sent before: what had been
   * decided before the damage has happened now. A collection may have removed an old pack whose relocation
   * was damaged since. Nobody can call its DELETE back, and the new pack keeps the content.
   */
  settle(): Promise<void>;
  end(): Promise<void>;
}

function createHarm(store: ObjectStore, draw: Draw, note: (what: string) => void): Harm {
  let damage: DamageUnderWay | undefined;
  let damages = 0;
  const end = async () => {
    if (!damage) return;
    note('put back');
    await putBack(store, damage);
    damage = undefined;
  };
  const check = () => (damage ? checkKept(store, damage) : checkWhole(store));
  return {
    get damage() {
      return damage;
    },
    get damages() {
      return damages;
    },
    check,
    end,
    settle: async () => {
      if (damage) damage = { ...damage, beside: await readAll(store) };
    },
    change: async () => {
      if (damage) {
        await end();
        return await check();
      }
      damage = await begin(store, draw);
      if (!damage) return;
      damages += 1;
      note(damage.what);
      await checkNamed(store, damage);
    },
  };
}

function count(counts: Map<string, number>, what: string): void {
  const name = what.split('/')[0]!;
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function drawDeed(draw: Draw, world: World): readonly [string, Actor] {
  if (draw.chance(45)) return ['collect', collect(world)];
  const number = draw.below(DEEDS.length);
  return [`deed ${number}`, DEEDS[number]!(draw.below(MACHINES))(world)];
}

/** A deed takes about so many requests, before one of which the store may change. */
const REQUESTS_OF_DEED = 40;

/** @returns Requests of a killed machine, which may still happen. */
async function perform(
  store: ObjectStore,
  deed: Actor,
  draw: Draw,
  harm: Harm,
): Promise<readonly (() => Promise<unknown>)[]> {
  const before = harm.damage;
  let isDamaged = before !== undefined;
  let fault: unknown;
  let isOver = false;
  let changing: Promise<void> | undefined;
  const change = () => {
    // A killed machine's request may happen later.
    if (isOver) return Promise.resolve();
    changing = changeOnce();
    return changing;
  };
  const changeOnce = async () => {
    try {
      await harm.change();
      isDamaged ||= harm.damage !== undefined;
    } catch (error) {
      fault ??= error;
    }
  };
  const seen = draw.chance(30) ? withInterruption(store, draw.below(REQUESTS_OF_DEED), change) : store;
  const { failures, limbo } = await run(seen, deed, draw);
  isOver = true;
  // A machine may be killed while it waits for this.
  await changing;
  if (fault !== undefined) throw fault;
  if (harm.damage !== before) await harm.settle();
  for (const failure of failures) {
    if (failure === undefined) continue;
    const { code = '', data } = failure as { code?: string; data?: { key?: unknown } };
    // A state that was altered may have told refs of a round that never was: it is made again by a repair.
    const isAllowed = (isDamaged ? DAMAGE_CODES : REFUSALS).has(code) || data?.key === COLLECTION_KEY;
    // A clone says so in its own words.
    const isOfClone = isDamaged && /^The branch names /.test((failure as Error).message);
    if (!isAllowed && !isOfClone) throw failure;
  }
  return limbo;
}

/** Something happens before a request, while no other one is under way. */
function withInterruption(store: ObjectStore, before: number, happen: () => Promise<void>): ObjectStore {
  let left = before;
  let running = 0;
  let gate: Promise<void> | undefined;
  const happenAlone = async () => {
    while (running > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    await happen();
  };
  return wrapStore(store, async (_name, _signal, send) => {
    if (left === 0) gate = happenAlone();
    left -= 1;
    await gate;
    running += 1;
    try {
      return await send();
    } finally {
      running -= 1;
    }
  });
}

type Ended = Pick<Run, 'failures' | 'limbo'>;

/** One machine in three may be killed: it runs by the scheduler, which takes ten times as long. */
async function run(store: ObjectStore, deed: Actor, draw: Draw): Promise<Ended> {
  if (draw.chance(70)) {
    const failures = await deed(store, new AbortController().signal).then(
      () => [],
      (error: unknown) => [error],
    );
    return { failures, limbo: [] };
  }
  const random = () => draw.below(2 ** 30) / 2 ** 30;
  return runActors(store, [deed], randomChoice(random), { kills: true, losses: false });
}

interface DamageUnderWay extends Damage {
  /** What could be read before, and what can be read beside the damage. */
  readonly before_: Readable;
  readonly beside: Readable;
}

async function begin(store: ObjectStore, draw: Draw): Promise<DamageUnderWay | undefined> {
  const before_ = await readAll(store);
  const damage = await damageOne(store, draw);
  return damage && { ...damage, before_, beside: await readAll(store) };
}

interface Readable {
  /** Of all commits that refs lead to and that are not forgotten. */
  readonly commits: ReadonlySet<CommitHash>;
  /** Commit and path of each file whose content is right. */
  readonly files: ReadonlySet<string>;
  /** The first thing that cannot be read. */
  readonly fault: string | undefined;
}

/** Everything that live refs lead to, as far as it can be read. */
async function readAll(store: ObjectStore): Promise<Readable> {
  let fault: string | undefined;
  const tolerant = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!DAMAGE_CODES.has((error as { code?: string }).code ?? '')) throw error;
      fault ??= `${what}: ${(error as Error).message}`;
      return undefined;
    }
  };
  const names = [...(await listRefNames(store, 'heads')), ...(await listRefNames(store, 'tags'))];
  const refs = await Promise.all(names.map((name) => tolerant(name, () => readRef(store, name))));
  const tips = new Set(refs.flatMap((ref) => ref?.commit ?? []));
  const list = await tolerant('retention.json', () => readRetention(store));
  const forgotten = new Set(list?.forgotten.filter((hash) => !tips.has(hash)));
  const commits = new Set<CommitHash>();
  const files = new Set<string>();
  const relocated = withRelocations(store);
  // The loop also visits what it adds.
  const open = new Set(tips);
  for (const hash of open) {
    const commit = await tolerant(hash, () => readCommit(store, hash));
    for (const parent of commit?.parents ?? []) open.add(parent);
    if (!commit || forgotten.has(hash)) continue;
    commits.add(hash);
    const isListed = await tolerant(hash, async () => {
      for await (const entries of readEntries(store, commit, { prefetch: 1 }))
        for (const entry of entries) {
          if (entry.kind !== 'file') continue;
          const isRight = await tolerant(entry.path, () => isReadable(relocated, entry));
          if (isRight) files.add(`${hash} ${entry.path}`);
          else fault ??= `${entry.path} of ${hash} cannot be read`;
        }
      return true;
    });
    if (!isListed) fault ??= `${hash} cannot be listed`;
  }
  return { commits, files, fault };
}

async function isReadable(store: ObjectStore, { blob, location, sizeBytes }: FileEntry): Promise<boolean> {
  if (location.in !== 'object' && location.in !== 'pack') throw new Error('The model has no such files.');
  const at =
    location.in === 'object'
      ? { key: objectKey(blob, location.generation) }
      : {
          key: packKey(location.pack),
          range: { start: location.offset, end: location.offset + sizeBytes },
        };
  const read = await store.read(at.key, { maxBytes: 2 ** 20, ...('range' in at && { range: at.range }) });
  return read !== undefined && hashOf('sha256', read.bytes) === blob;
}

/** What was readable beside the damage, and is still live, is still readable. */
async function checkKept(store: ObjectStore, { beside }: DamageUnderWay): Promise<void> {
  const now = await readAll(store);
  for (const file of beside.files)
    if (now.commits.has(file.split(' ')[0] as CommitHash) && !now.files.has(file))
      throw new Error(`beside the damage, ${file} was lost`);
}

/** Without damage, everything is whole. */
async function checkWhole(store: ObjectStore): Promise<void> {
  const { fault } = await readAll(store);
  if (fault !== undefined) throw new Error(`without damage, ${fault}`);
}

/** If live content is lost beside the damage, or no clone can be made, a verification says why. */
async function checkNamed(store: ObjectStore, { before_, beside, keys }: DamageUnderWay): Promise<void> {
  const isLess = [...before_.files].some((file) => !beside.files.has(file));
  if (!isLess && (await isRepository(store))) return;
  const details = await verify(store);
  // A pack is named if the relocation that says where its content is now is gone.
  const names = keys.flatMap((key) => [key, key.replace(/^relocations\//, 'packs/')]);
  if (!details.some((detail) => names.some((name) => detail.includes(name) || isOfRef(name, detail))))
    throw new Error(`verify does not name ${keys.join(' or ')}: ${details.join(' ')}`);
}

async function isRepository(store: ObjectStore): Promise<boolean> {
  try {
    return (await readDescriptor(store))?.id === REPOSITORY;
  } catch (error) {
    if (!DAMAGE_CODES.has((error as { code?: string }).code ?? '')) throw error;
    return false;
  }
}

/** A commit and a ref are named in other words. */
function isOfRef(key: RemoteKey, detail: string): boolean {
  const [kind, ...rest] = key.split('/');
  return (kind === 'commits' && detail.includes(rest.join(''))) || (kind === 'refs' && detail.length > 0);
}

async function verify(store: ObjectStore): Promise<readonly string[]> {
  const details: string[] = [];
  const emit = (event: { type: string; result?: string; detail?: string }) => {
    if (event.type === 'check' && event.result === 'failed') details.push(event.detail!);
  };
  const { signal } = new AbortController();
  const clock = { ...(await import('../../engine/base/clock.ts')).systemClock };
  const limit = createAdaptiveLimit({ clock, idleMs: () => 0, fixed: 1 });
  const meter = { totals: () => ({ total: 0 }), wireBytes: () => 0, watchWire: () => {} };
  const tools = { context: { signal, emit }, clock, limit, meter, store: withRelocations(store) };
  const remote = { repository: REPOSITORY, layout: DEFAULT_LAYOUT };
  const session = { config: { remotes: { origin: remote } }, remoteName: 'origin', state: { bases: {} } };
  try {
    await findDamage(session as never, tools as never, { readDataPercent: 100 });
  } catch (error) {
    if (!DAMAGE_CODES.has((error as { code?: string }).code ?? '')) throw error;
    details.push((error as Error).message);
  }
  return details;
}
