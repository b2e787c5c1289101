/**
 * Loaded before a command and before each of its threads (`--import`): counts what the command asks of Node, and changes nothing else.
 * The totals of all threads are written as JSON to the file that DRAY_COUNTS_FILE names, when the process exits.
 *
 * Calls are counted where the program makes them, so a `readFile` is one, whatever Node does for it. What native code does (SQLite's
 * writes, koffi's calls) is not seen here; `kernel-calls.ts` sees it where there is strace.
 */
import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import threads from 'node:worker_threads';
import { CALL_COUNTS, type CallCount } from './call-counts.ts';

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;
type Holder = Record<PropertyKey, unknown>;

/** As many processors everywhere: what is started for each of them is a part of the counts. */
const PROCESSORS = 2;
const SHARED_KEY = 'dray-counts';

/** Of all threads: one number for each name in `CALL_COUNTS`. Atomic, as a thread may be ended at any moment. */
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

/** Puts a function in front that counts. What hangs on the original, such as what promisify needs, stays on it. */
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

/** Methods of what `fs.promises.open` gives. */
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
    // Its class is nowhere to be had before there is one.
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

/** Memory outside of V8's heap, where it is asked for by its size. */
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

/** SQLite's own binding, whichever module loads it. */
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
