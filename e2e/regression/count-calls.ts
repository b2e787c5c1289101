/**
 * Loaded before a command and before each of its threads (`--import`): counts the command's calls of Node and
 * changes nothing else. When the process exits, it writes the totals of all threads as JSON to the file in
 * DRAY_COUNTS_FILE.
 *
 * It counts the program's own calls, so a `readFile` is one call whatever Node does for it. Native code
 * (SQLite's writes, koffi's calls) is not counted here; `kernel-calls.ts` counts it where strace exists.
 */
import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import threads from 'node:worker_threads';
import { CALL_COUNTS, type CallCount } from './call-counts.ts';

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;
type Holder = Record<PropertyKey, unknown>;

/** The same number of processors everywhere, because the counts depend on it. */
const PROCESSORS = 2;
const SHARED_KEY = 'dray-counts';

/**
 * Totals of all threads: one number for each name in `CALL_COUNTS`. Atomic, because a thread may end at any
 * moment.
 */
const totals = openTotals();
const writeAtEnd = fs.writeFileSync;

function openTotals(): BigInt64Array {
  const given = threads.getEnvironmentData(SHARED_KEY);
  if (given instanceof SharedArrayBuffer) return new BigInt64Array(given);
  const made = new SharedArrayBuffer(CALL_COUNTS.length * BigInt64Array.BYTES_PER_ELEMENT);
  threads.setEnvironmentData(SHARED_KEY, made);
  return new BigInt64Array(made);
}

function add(count: CallCount, amount = 1): void {
  Atomics.add(totals, CALL_COUNTS.indexOf(count), BigInt(Math.round(amount)));
}

/**
 * Replaces a function by one that counts and calls it. Properties of the original, such as promisify's, stay.
 */
function wrap(
  holder: Holder,
  name: string,
  count: (values: readonly unknown[], self: unknown) => void,
): void {
  const original = holder[name];
  if (typeof original !== 'function') return;
  const counted: AnyFunction = function (this: unknown, ...values) {
    count(values, this);
    return Reflect.apply(original, this, values);
  };
  Object.defineProperties(counted, Object.getOwnPropertyDescriptors(original));
  holder[name] = counted;
}

const FILE_CALLS: Partial<Record<CallCount, readonly string[]>> = {
  opens: ['open', 'openAsBlob', 'readFile', 'writeFile', 'appendFile', 'copyFile'],
  reads: ['read', 'readv'],
  writes: ['write', 'writev'],
  stats: ['stat', 'lstat', 'fstat', 'statfs', 'access', 'exists', 'readlink', 'realpath'],
  syncs: ['fsync', 'fdatasync'],
  renames: ['rename', 'link', 'symlink'],
  removals: ['unlink', 'rm', 'rmdir'],
  folders: ['mkdir', 'mkdtemp', 'readdir', 'opendir'],
  attributes: ['chmod', 'fchmod', 'chown', 'fchown', 'utimes', 'futimes', 'lutimes', 'truncate', 'ftruncate'],
};

/** The methods of a file handle of `fs.promises.open`. */
const HANDLE_CALLS: Partial<Record<CallCount, readonly string[]>> = {
  reads: ['read', 'readv', 'readFile'],
  writes: ['write', 'writev', 'writeFile', 'appendFile'],
  stats: ['stat'],
  syncs: ['sync', 'datasync'],
  attributes: ['chmod', 'chown', 'utimes', 'truncate'],
};

function wrapAll(holder: object, calls: typeof FILE_CALLS, suffixes: readonly string[]): void {
  for (const [count, names] of Object.entries(calls))
    for (const name of names)
      for (const suffix of suffixes) wrap(holder as Holder, name + suffix, () => add(count as CallCount));
}

function countFileCalls(): void {
  wrapAll(fs, FILE_CALLS, ['', 'Sync']);
  wrapAll(fs.promises, FILE_CALLS, ['']);
  const open = fs.promises.open;
  let isHandleKnown = false;
  fs.promises.open = async (...values) => {
    const handle = await open(...values);
    // The handle's class is only reachable from a handle.
    if (!isHandleKnown) wrapAll(Object.getPrototypeOf(handle), HANDLE_CALLS, ['']);
    isHandleKnown = true;
    return handle;
  };
}

function countThreads(): void {
  const Original = threads.Worker;
  threads.Worker = class extends Original {
    constructor(...values: ConstructorParameters<typeof Original>) {
      add('threads');
      super(...values);
    }
  };
}

/** Counts memory outside V8's heap where it is requested by size. */
function countBuffers(): void {
  for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow'])
    wrap(Buffer as unknown as Holder, name, ([size]) => add('bufferBytes', Number(size)));
  const holder = globalThis as unknown as Record<string, new (...values: unknown[]) => object>;
  const constructors = {
    ArrayBuffer: 'bufferBytes',
    Uint8Array: 'bufferBytes',
    SharedArrayBuffer: 'sharedBytes',
  } as const;
  for (const [name, count] of Object.entries(constructors)) {
    const original = holder[name]!;
    holder[name] = new Proxy(original, {
      construct(target, values, newTarget) {
        if (typeof values[0] === 'number') add(count, values[0]);
        return Reflect.construct(target, values, newTarget);
      },
    });
  }
}

/** Wraps SQLite's binding, whichever module loads it. */
function countStatements(): void {
  const load = process.dlopen;
  process.dlopen = (target: object, ...rest: unknown[]) => {
    Reflect.apply(load, process, [target, ...rest]);
    const { exports } = target as { exports?: Record<string, { prototype: Holder } | undefined> };
    const statement = exports?.Statement?.prototype;
    if (!statement) return;
    for (const name of ['run', 'get', 'all', 'iterate'])
      wrap(statement, name, (_, self) => {
        add('statements');
        if ((self as { source?: string }).source === 'COMMIT') add('commits');
      });
  };
}

function countModules(): void {
  registerHooks({
    load: (url, context, next) => {
      if (url.startsWith('file:')) {
        add('modules');
        add('moduleBytes', sizeOf(fileURLToPath(url)));
      }
      return next(url, context);
    },
  });
}

const sizeOf = (
  (stat) => (path: string) =>
    stat(path).size
)(fs.statSync);

function writeTotals(): void {
  const path = process.env.DRAY_COUNTS_FILE;
  if (!path) return;
  const entries = CALL_COUNTS.map((name, at) => [name, Number(totals[at])]);
  writeAtEnd(path, JSON.stringify(Object.fromEntries(entries)));
}

countFileCalls();
countThreads();
countBuffers();
countStatements();
countModules();
os.availableParallelism = () => PROCESSORS;
syncBuiltinESMExports();
if (threads.isMainThread) process.once('exit', writeTotals);
