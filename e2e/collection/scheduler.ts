/**
 * Runs actors over one store in memory, one request at a time, in an order that a test chooses. Each request
 * waits until it is chosen. It may also lose its answer, and an actor may be killed: what it has asked for
 * and was not answered then happens later, or never.
 */
import { DrayError } from '../../engine/api/error.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';

interface Request {
  readonly actor: number;
  readonly name: string;
  /** Carries it out in the store. */
  readonly act: () => Promise<unknown>;
  readonly answer: (outcome: Promise<unknown>) => void;
}

export type Step =
  | { readonly kind: 'run'; readonly request: Request }
  /** The request happens, and its sender learns nothing but that the connection broke. */
  | { readonly kind: 'lose'; readonly request: Request }
  /** The actor sends nothing any more. Its open requests may still happen. */
  | { readonly kind: 'kill'; readonly actor: number }
  /** A request of a killed actor happens now. */
  | { readonly kind: 'late'; readonly request: Request };

export interface Faults {
  readonly kills: boolean;
  readonly losses: boolean;
}

/** Picks one of the steps: its index. The first one goes on with the actor that had the last step. */
export type Choose = (steps: readonly Step[], stepsDone: number) => number;

export type Actor = (store: ObjectStore, signal: AbortSignal) => Promise<void>;

export interface Run {
  readonly steps: readonly string[];
  /** What an actor failed with, other than being killed. */
  readonly failures: readonly (unknown | undefined)[];
  /** Requests of killed actors that have not happened: call them to have them happen. */
  readonly limbo: readonly (() => Promise<unknown>)[];
}

const STEPS_MAX = 3_000;

export async function runActors(
  inner: ObjectStore,
  actors: readonly Actor[],
  choose: Choose,
  faults: Faults,
): Promise<Run> {
  const waiting: Request[] = [];
  const limbo: Request[] = [];
  const killed = new Set<number>();
  const stops = actors.map(() => new AbortController());
  const failures: (unknown | undefined)[] = actors.map(() => undefined);
  let running = actors.length;
  const ends = actors.map(async (act, actor) => {
    const store = schedule(inner, actor, { waiting, killed });
    try {
      await act(store, stops[actor]!.signal);
    } catch (error) {
      if (!killed.has(actor)) failures[actor] = error;
    } finally {
      running -= 1;
    }
  });
  const steps: string[] = [];
  let last = -1;
  for (;;) {
    await settle();
    if (waiting.length === 0) {
      if (running === 0) break;
      throw new Error(`The actors wait for something else than requests, after ${steps.at(-1)}.`);
    }
    if (steps.length >= STEPS_MAX) throw new Error('The actors do not end.');
    const possible = possibleSteps({ waiting, limbo, last, faults, killed });
    const step = possible[choose(possible, steps.length)]!;
    steps.push(describeStep(step));
    if (step.kind === 'kill') {
      killed.add(step.actor);
      const open = waiting.filter(({ actor }) => actor === step.actor);
      waiting.splice(0, waiting.length, ...waiting.filter(({ actor }) => actor !== step.actor));
      limbo.push(...open.filter(({ name }) => !name.startsWith('read')));
      stops[step.actor]!.abort();
      for (const { answer } of open) answer(Promise.reject(aborted()));
      continue;
    }
    const { request } = step;
    const from = step.kind === 'late' ? limbo : waiting;
    from.splice(from.indexOf(request), 1);
    if (step.kind !== 'late') last = request.actor;
    const outcome = request.act();
    await outcome.catch(() => {});
    if (step.kind === 'run') request.answer(outcome);
    if (step.kind === 'lose') request.answer(Promise.reject(broken()));
  }
  await Promise.all(ends);
  return { steps, failures, limbo: limbo.map(({ act }) => act) };
}

/** The order is always the same for the same state, so a run can be repeated. */
function possibleSteps({
  faults,
  killed,
  last,
  limbo,
  waiting,
}: {
  readonly waiting: readonly Request[];
  readonly limbo: readonly Request[];
  readonly last: number;
  readonly faults: Faults;
  readonly killed: ReadonlySet<number>;
}): readonly Step[] {
  const actors = [...new Set(waiting.map(({ actor }) => actor))].sort(
    (left, right) => Number(right === last) - Number(left === last) || left - right,
  );
  const firsts = actors.map((actor) => waiting.find((request) => request.actor === actor)!);
  const steps: Step[] = firsts.map((request) => ({ kind: 'run', request }));
  if (faults.losses)
    for (const request of firsts) if (!request.name.startsWith('read')) steps.push({ kind: 'lose', request });
  // One actor at most is killed: more of them differ only in order.
  if (faults.kills && killed.size === 0) for (const actor of actors) steps.push({ kind: 'kill', actor });
  for (const request of limbo) steps.push({ kind: 'late', request });
  return steps;
}

export function describeStep(step: Step): string {
  if (step.kind === 'kill') return `kill ${step.actor}`;
  return `${step.kind} ${step.request.actor} ${step.request.name}`;
}

/** Every call of an actor waits among the requests. */
function schedule(
  inner: ObjectStore,
  actor: number,
  { killed, waiting }: { readonly waiting: Request[]; readonly killed: ReadonlySet<number> },
): ObjectStore {
  const ask = <T>(name: string, act: () => Promise<T>): Promise<T> => {
    if (killed.has(actor)) return Promise.reject(aborted());
    return new Promise<T>((resolve, reject) => {
      const answer = (outcome: Promise<unknown>) => outcome.then((value) => resolve(value as T), reject);
      waiting.push({ actor, name, act, answer });
    });
  };
  return {
    ...inner,
    head: (key, options) => ask(`read ${key}`, () => inner.head(key, withoutSignal(options))),
    get: (key, options) => ask(`read ${key}`, () => inner.get(key, withoutSignal(options))),
    read: (key, options) => ask(`read ${key}`, () => inner.read(key, withoutSignal(options))),
    list: (request, options) =>
      ask(`read ${request.prefix}*`, () => inner.list(request, withoutSignal(options))),
    put: (key, bytes, options) => {
      const copy = Uint8Array.from(bytes);
      return ask(`put ${key}`, () => inner.put(key, copy, withoutSignal(options)));
    },
    delete: (keys, options) =>
      ask(`delete ${keys.join(' ')}`, () => inner.delete(keys, withoutSignal(options))),
  };
}

/** What was sent cannot be called back. */
function withoutSignal<T extends { readonly signal?: AbortSignal }>(options: T): Omit<T, 'signal'>;
function withoutSignal<T extends { readonly signal?: AbortSignal }>(
  options: T | undefined,
): Omit<T, 'signal'> | undefined;
function withoutSignal<T extends { readonly signal?: AbortSignal }>(options: T | undefined) {
  if (!options) return undefined;
  const { signal: _, ...rest } = options;
  return rest;
}

/** Until every actor waits for a request or has ended: nothing here waits for a disk or a clock. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

function aborted(): DrayError {
  return new DrayError('aborted', 'Killed.');
}

function broken(): DrayError {
  return new DrayError('unreachable', 'The connection broke.', { retry: 'retry' });
}
