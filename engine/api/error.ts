/** The one error type that crosses a module's border. Branch on `code`, never on the message. */

/** Every way in which Dray can fail, with the exit code of the command that meets it. */
const EXIT_CODES = {
  /** A programming error or anything unexpected. */
  internal: 1,
  /** The command line or a setting is invalid. */
  usage: 2,
  /** A required folder, ref or path of a commit does not exist. */
  notFound: 1,
  /** The retention policy has forgotten this commit: its record stays, its content may be gone. */
  forgotten: 1,
  /** Neither the folder nor one above it is a workspace. */
  notAWorkspace: 2,
  /** A workspace would lie inside another one or replace an existing one. */
  workspaceExists: 2,
  /** The remote URL holds no repository. */
  notARepository: 1,
  /** The repository's format is newer than this version of Dray supports. */
  formatTooNew: 1,
  /** Stored bytes do not match their name, or do not decode. */
  damaged: 1,
  /** Both sides changed the same thing. Nothing was changed. */
  conflict: 5,
  /** Some files failed; all others were processed. */
  partial: 4,
  /** No credentials were found for the remote. */
  noCredentials: 1,
  /** The remote refused the credentials or the operation. */
  accessDenied: 1,
  /**
   * The first connection to a peer whose certificate nobody has trusted yet. Nothing was sent. `data`:
   * `address`, `fingerprint`.
   */
  unknownPeer: 1,
  /** This machine's clock and the remote's differ too much for a signature to be accepted. */
  clockSkew: 1,
  /** The repository is encrypted, and no password was given. */
  noPassword: 6,
  /** The password opens none of the repository's keys. */
  wrongPassword: 6,
  /** The repository is encrypted, and its keys are not on the store. */
  noKeySlots: 6,
  /** The bucket (or the folder of a `file:` remote) does not exist. */
  bucketMissing: 1,
  /** The remote cannot be reached, or the connection broke and did not recover. */
  unreachable: 1,
  /** The remote asked for fewer requests (503 SlowDown, 429). Retried by the retry wrapper. */
  slowDown: 1,
  /** The remote reported a failure of its own (5xx). Retried by the retry wrapper. */
  remoteFailed: 1,
  /** The remote refused a checksum: the bytes changed on the way, or the file changed while it was read. */
  checksumRefused: 1,
  /** The remote does not support the operation. */
  unsupported: 1,
  /** The disk is full. */
  diskFull: 1,
  /** Reading or writing the local file system failed, or a stream that a program gave. */
  io: 1,
  /** A sync would delete more than it was allowed to; nothing was deleted. */
  tooManyDeletes: 1,
  /** A push would record many files as emptied. Nothing was sent. */
  manyEmptied: 1,
  /** A path would leave the workspace or cannot exist on this system. */
  unsafePath: 1,
  /** Another Dray process holds the workspace. */
  locked: 1,
  /** The user or the given signal stopped the operation. */
  aborted: 1,
} as const;

/** Says what happened; the list below has each. */
export type ErrorCode = keyof typeof EXIT_CODES;
export const ERROR_CODES = Object.keys(EXIT_CODES) as readonly ErrorCode[];

/** Whether the same call may succeed later. `backoff` asks for a longer pause and less concurrency. */
export type RetryAdvice = 'no' | 'retry' | 'backoff';

/** The facts of an error besides its code and message. */
export interface DrayErrorOptions {
  readonly retry?: RetryAdvice;
  /** Plain, JSON-safe facts for programs: paths, keys, sizes. Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /**
   * The next step at a command line. It is the last sentence of the message; `data.advice` repeats it, so a
   * window can remove it from the message.
   */
  readonly advice?: string;
  /** The command that the advice recommends, as it is typed; `data.command`. */
  readonly command?: string;
}

/** The only error that Dray throws. Its message is for people: the thing, the cause and the next step. */
export class DrayError extends Error {
  /** Branch on this, never on the message. */
  readonly code: ErrorCode;
  /** Whether the same call may succeed later. */
  readonly retry: RetryAdvice;
  /** Plain facts, such as `path`. */
  readonly data: Readonly<Record<string, unknown>>;

  /** @param message One or two sentences: the thing, the cause and the next step. */
  constructor(code: ErrorCode, message: string, options: DrayErrorOptions = {}) {
    super(
      cut(joinAdvice(message, options.advice), MESSAGE_CHARS_MAX),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'DrayError';
    this.code = code;
    this.retry = options.retry ?? 'no';
    const { advice, command, data = {} } = options;
    const facts = advice ? { ...data, advice, ...(command ? { command } : {}) } : data;
    this.data = boundedData(facts, 0) as Readonly<Record<string, unknown>>;
  }
}

function joinAdvice(message: string, advice = ''): string {
  return advice === '' ? message : `${message} ${advice}`;
}

/** A message and its advice, for a warning. */
export function advised(
  message: string,
  advice: string,
): { readonly message: string; readonly advice: string } {
  return { message: joinAdvice(message, advice), advice };
}

/** The message without its advice for a command line. */
export function messageWithoutAdvice({
  data = {},
  message,
}: {
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}): string {
  const { advice } = data;
  if (typeof advice !== 'string' || advice === '' || !message.endsWith(advice)) return message;
  return message.slice(0, -advice.length).trimEnd();
}

/** Bounds for every error, since names and messages may come from stores, peers and repositories. */
const MESSAGE_CHARS_MAX = 4_000;
const DATA_CHARS_MAX = 8_192;
const DATA_DEPTH_MAX = 8;
const EXCERPT_CHARS_MAX = 200;

/** At most 200 characters of an outside text, for a message. */
export function excerpt(text: string): string {
  return cut(text, EXCERPT_CHARS_MAX);
}

/** The excerpt as a JSON string. For a value that is not text, only its type: the value may be large. */
export function quotedExcerpt(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(excerpt(value));
  const isPlain = value === null || ['boolean', 'number', 'undefined'].includes(typeof value);
  return isPlain ? String(value) : Array.isArray(value) ? 'a list' : `an ${typeof value}`;
}

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  // Do not cut a surrogate pair in half.
  const end = text.isWellFormed() && !text.slice(0, charsMax).isWellFormed() ? charsMax - 1 : charsMax;
  return `${text.slice(0, end)}...`;
}

/** Cuts strings and bounds the depth. Returns the value itself if nothing exceeds the bounds. */
function boundedData(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value, DATA_CHARS_MAX);
  if (Array.isArray(value)) {
    if (depth > DATA_DEPTH_MAX) return '...';
    const items = value.map((item) => boundedData(item, depth + 1));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  if (depth > DATA_DEPTH_MAX) return '...';
  const fields = Object.entries(value).map(([name, field]) => [
    cut(name, EXCERPT_CHARS_MAX),
    boundedData(field, depth + 1),
  ]);
  const isSame = fields.every(
    ([name, field]) => (value as Record<string, unknown>)[name as string] === field,
  );
  return isSame ? value : Object.fromEntries(fields);
}

export function exitCodeOf(code: ErrorCode): number {
  return EXIT_CODES[code];
}

/**
 * Codes that describe a decision of this machine. When another machine sends one, it is that machine's own
 * failure.
 */
const OWN_CODES: ReadonlySet<string> = new Set(['aborted', 'internal', 'noCredentials', 'unknownPeer']);
/** Data that another machine must not set: the window offers trust, or asks for a secret, because of it. */
const OWN_FACTS: ReadonlySet<string> = new Set([
  'address',
  'advice',
  'command',
  'fingerprint',
  'known',
  'peer',
  'profile',
  'status',
]);

/** An error as another machine sent it. */
export interface ReceivedError {
  readonly code: string;
  readonly message: string;
  readonly retry?: RetryAdvice | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Keeps what another machine may state. An unknown code becomes that machine's own failure. */
export function receivedError({ code, data = {}, message, retry = 'no' }: ReceivedError): ErrorRecord {
  const isKnown = Object.hasOwn(EXIT_CODES, code) && !OWN_CODES.has(code);
  const facts = Object.entries(data).filter(([name]) => !OWN_FACTS.has(name));
  return {
    code: isKnown ? (code as ErrorCode) : 'remoteFailed',
    message,
    retry,
    data: Object.fromEntries(facts),
  };
}

/** Whether the remote refused this one operation rather than the caller: another operation may be allowed. */
export function isNotAllowed(error: unknown): boolean {
  return error instanceof DrayError && error.code === 'accessDenied' && error.data.reason !== 'credentials';
}

/** The plain form that crosses a thread or a socket. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: RetryAdvice;
  readonly data: Readonly<Record<string, unknown>>;
}

export function toErrorRecord(error: unknown): ErrorRecord {
  const known = toDrayError(error);
  return { code: known.code, message: known.message, retry: known.retry, data: known.data };
}

export function fromErrorRecord(record: ErrorRecord): DrayError {
  return new DrayError(record.code, record.message, { retry: record.retry, data: record.data });
}

/** EMFILE: the process's limit; ENFILE: the system's. Starting a thread needs file descriptors too. */
const OPEN_FILES_CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ERR_WORKER_INIT_FAILED']);
const CAUSES_MAX = 10;

/**
 * An error that names the limit of open files, if that limit caused this error. No single file is at fault
 * then.
 */
export function openFilesLimit(error: unknown): DrayError | undefined {
  let at = error as
    | { code?: unknown; cause?: unknown; data?: { errno?: unknown; systemCode?: unknown } }
    | undefined;
  for (
    let depth = 0;
    at && typeof at === 'object' && depth < CAUSES_MAX;
    depth += 1, at = at.cause as typeof at
  ) {
    const { code, data } = at;
    if (![code, data?.errno, data?.systemCode].some((each) => OPEN_FILES_CODES.has(each))) continue;
    return new DrayError('io', 'Too many files are open for this process or system.', {
      cause: error,
      data: { reason: 'openFiles' },
      advice: 'Raise the limit, for example with "ulimit -n 1024", and run the command again.',
      command: 'ulimit -n 1024',
    });
  }
  return undefined;
}

/** Any thrown value as a DrayError. Other errors become `aborted` or `internal`. */
export function toDrayError(error: unknown): DrayError {
  const limited = openFilesLimit(error);
  if (limited) return limited;
  if (error instanceof DrayError) return error;
  // The end of a block failed after the block itself, whose error says what went wrong.
  if (error instanceof Error && 'suppressed' in error) return toDrayError(error.suppressed);
  if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')) {
    return new DrayError('aborted', 'Stopped on request.', { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new DrayError('internal', `Unexpected error: ${message}`, { cause: error });
}
