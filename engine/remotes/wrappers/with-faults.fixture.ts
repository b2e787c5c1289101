/**
 * Faults on order, for tests: which call fails, how, and how often. After kopia's `faulty` storage.
 *
 *   const faults = createFaults();
 *   faults.add('put').errorInstead(new DrayError('unreachable', 'Gone.', { retry: 'retry' })).repeat(2);
 *   const store = withFaults(real, faults);
 *   ...
 *   faults.verifyAllExercised();
 *
 * Faults of one method act in the order they were added, each on one call (or as many as `repeat` says), then
 * the next.
 */
import type { MultipartStore, MultipartTraits, ObjectRead, ObjectStore } from '../object-store.ts';

export type FaultMethod =
  | Exclude<
      keyof ObjectStore,
      'address' | 'provider' | 'place' | 'confirmsWrites' | 'multipart' | 'files' | 'close'
    >
  | Exclude<keyof MultipartStore, keyof MultipartTraits>;

/** The argument of a hook: the call's arguments, and after the call its value. */
export interface FaultCall {
  readonly method: FaultMethod;
  readonly arguments: readonly unknown[];
}

export interface Fault {
  /** The call is not made. */
  errorInstead(error: unknown): Fault;
  /** The call is not made, and returns this: a store that says 200 and keeps nothing. */
  answerInstead(value: unknown): Fault;
  /** Runs before the call, which is made unless this throws. */
  before(hook: (call: FaultCall) => void | Promise<void>): Fault;
  /** Runs after the call succeeded; an error here is what the caller sees: done, but the answer was lost. */
  after(hook: (call: FaultCall, value: unknown) => void | Promise<void>): Fault;
  /** `get`: the body gives this many bytes, then fails with the error. */
  truncateBody(bytes: number, error: unknown): Fault;
  /** Acts on this many calls in all; default once. */
  repeat(times: number): Fault;
  /** Acts only on matching calls; others pass. Default: all. */
  when(matches: (call: FaultCall) => boolean): Fault;
}

export interface Faults {
  add(method: FaultMethod): Fault;
  /** Throws, naming them, if planned faults did not act as often as planned. */
  verifyAllExercised(): void;
}

interface FaultPlan {
  readonly method: FaultMethod;
  left: number;
  errorInstead?: { readonly error: unknown };
  answerInstead?: { readonly value: unknown };
  truncate?: { readonly bytes: number; readonly error: unknown };
  before?: (call: FaultCall) => void | Promise<void>;
  after?: (call: FaultCall, value: unknown) => void | Promise<void>;
  matches: (call: FaultCall) => boolean;
}

const plansOf = new WeakMap<Faults, FaultPlan[]>();

export function createFaults(): Faults {
  const plans: FaultPlan[] = [];
  const faults: Faults = {
    add(method) {
      const plan: FaultPlan = { method, left: 1, matches: () => true };
      plans.push(plan);
      return builderOf(plan);
    },
    verifyAllExercised() {
      const unmet = plans.filter((plan) => plan.left > 0);
      if (unmet.length === 0) return;
      throw new Error(
        `Faults not met: ${unmet.map((plan) => `${plan.method} (${plan.left} left)`).join(', ')}.`,
      );
    },
  };
  plansOf.set(faults, plans);
  return faults;
}

function builderOf(plan: FaultPlan): Fault {
  const fault: Fault = {
    errorInstead: (error) => set({ errorInstead: { error } }),
    answerInstead: (value) => set({ answerInstead: { value } }),
    before: (before) => set({ before }),
    after: (after) => set({ after }),
    truncateBody: (bytes, error) => set({ truncate: { bytes, error } }),
    repeat: (left) => set({ left }),
    when: (matches) => set({ matches }),
  };
  function set(change: Partial<FaultPlan>): Fault {
    Object.assign(plan, change);
    return fault;
  }
  return fault;
}

export function withFaults(store: ObjectStore, faults: Faults): ObjectStore {
  const plans = plansOf.get(faults) ?? [];
  const { multipart } = store;
  return faultyCalls(multipart ? { ...store, multipart: faultyCalls(multipart, plans) } : store, plans);
}

function faultyCalls<T extends object>(calls: T, plans: FaultPlan[]): T {
  return new Proxy(calls, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        runFaulty(plans, { method: name as FaultMethod, arguments: args }, () => value.apply(target, args));
    },
  });
}

async function runFaulty<T>(plans: FaultPlan[], call: FaultCall, run: () => Promise<T>): Promise<T> {
  const plan = plans.find((each) => each.method === call.method && each.left > 0 && each.matches(call));
  if (!plan) return run();
  plan.left -= 1;
  if (plan.errorInstead) throw plan.errorInstead.error;
  // The test itself chose this value.
  if (plan.answerInstead) return plan.answerInstead.value as never;
  await plan.before?.(call);
  const value = await run();
  await plan.after?.(call, value);
  return plan.truncate && isRead(value) ? { ...value, body: truncated(value.body, plan.truncate) } : value;
}

function isRead(value: unknown): value is ObjectRead {
  return typeof value === 'object' && value !== null && 'body' in value;
}

function truncated(
  body: ObjectRead['body'],
  { bytes, error }: NonNullable<FaultPlan['truncate']>,
): ObjectRead['body'] {
  return {
    destroy: () => body.destroy(),
    async *[Symbol.asyncIterator]() {
      let left = bytes;
      for await (const piece of body) {
        if (left > 0) yield piece.subarray(0, left);
        left -= piece.byteLength;
        if (left <= 0) break;
      }
      throw error;
    },
  };
}
