/** The failures of a part: one JSON line for each file, so that any tool can read it. */
import * as v from 'valibot';
import { ERROR_CODES, type ErrorCode } from '../../api/error.ts';
import type { ComparedEvent, JobEvent } from '../../api/events.ts';
import type { FleetCounts, PartRequest } from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { partName } from './fleet-part.ts';

const LINES_MAX = 10_000;

const line = v.union([
  /** `isDeleting`: the file failed in the round that deletes. */
  v.object({
    path: v.string(),
    code: v.picklist(ERROR_CODES),
    message: v.string(),
    isDeleting: v.optional(v.boolean()),
  }),
  /** The result of a check. */
  v.object({ path: v.string(), result: v.string(), by: v.string() }),
  /** The result of a verification: `missing` or `damaged`. */
  v.object({ check: v.string(), detail: v.string(), paths: v.array(v.string()) }),
  /** The last line, if there were more failures. */
  v.object({ more: v.number() }),
]);
type Line = v.InferOutput<typeof line>;

export interface FailureList {
  /** Its `emit` also notes failures. */
  readonly context: JobContext;
  readonly counts: Pick<FleetCounts, 'failedBy' | 'comparedBy' | 'bytes'>;
  add(failed: {
    readonly path: string;
    readonly error: { readonly code: string; readonly message: string };
  }): void;
  /** Replaces the part's document, or removes it if nothing failed. */
  save(folder: FleetFolder): Promise<void>;
  /** The code of the first failure in the stored document; undefined when there is none. */
  savedCode(folder: FleetFolder): Promise<ErrorCode | undefined>;
}

interface CollectOptions {
  readonly isDeleting?: boolean;
  /** The failures are those of one object in pieces. */
  readonly large?: number;
  /** Lines of an earlier attempt that stay. */
  readonly differences?: readonly Line[];
}

export function collectFailures(
  context: JobContext,
  part: PartRequest,
  { differences = [], isDeleting = false, large }: CollectOptions = {},
): FailureList {
  const lines: Line[] = [...differences];
  let more = 0;
  const failedBy: Record<string, number> = {};
  const comparedBy: Record<string, number> = {};
  const counts = { failedBy, comparedBy, bytes: 0 };
  const note = (noted: Line) => {
    if (lines.length < LINES_MAX) lines.push(noted);
    else more += 1;
  };
  const add: FailureList['add'] = ({ error, path }) => {
    const { code, message } = error;
    failedBy[code] = (failedBy[code] ?? 0) + 1;
    note({ path, code, message, ...(isDeleting ? { isDeleting } : {}) } as Line);
  };
  const compared = ({ by, path, result, sizeBytes }: ComparedEvent) => {
    if (result !== 'onlyInDestination') counts.bytes += sizeBytes;
    comparedBy[by] = (comparedBy[by] ?? 0) + 1;
    if (result !== 'same' && result !== 'uncertain') note({ path, result, by });
  };
  const emit = (event: JobEvent) => {
    if (event.type === 'fileFailed') add(event);
    else if (event.type === 'compared') compared(event);
    else if (event.type === 'check')
      note({ check: event.check, detail: event.detail, paths: [...(event.paths ?? [])] });
    context.emit(event);
  };
  return {
    context: { ...context, emit },
    counts,
    add,
    async savedCode(folder) {
      const [text = ''] = ((await folder.readText(nameOf(part, large))) ?? '').split('\n', 1);
      const first = text === '' ? undefined : v.parse(line, JSON.parse(text));
      return first && 'code' in first ? first.code : undefined;
    },
    async save(folder) {
      const name = nameOf(part, large);
      if (lines.length === 0) {
        // Removing an absent object would leave a delete marker in a bucket with versions.
        if (await folder.has(name)) await folder.remove([name]);
        return;
      }
      const all = more > 0 ? [...lines, { more }] : lines;
      await folder.writeText(name, all.map((one) => `${JSON.stringify(one)}\n`).join(''));
    },
  };
}

export function forgetFailures(folder: FleetFolder): Promise<void> {
  return folder.removeBelow('failures/');
}

function nameOf(part: PartRequest, large: number | undefined): string {
  return `failures/${partName(part)}${large === undefined ? '' : `-${large}`}.jsonl`;
}

export interface NamedFailure {
  readonly path: string;
  /** Absent for a finding of a check, which is no failure. */
  readonly code?: ErrorCode;
  readonly message: string;
}

/** The files that a document names. `isWhole`: it names all of them. */
export function namedFailures(text: string): {
  readonly named: readonly NamedFailure[];
  readonly isWhole: boolean;
} {
  const lines = text
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => v.parse(line, JSON.parse(one)));
  return {
    named: lines.flatMap((one) => namedIn(one)),
    isWhole: !lines.some((one) => 'more' in one),
  };
}

const FOUND: Readonly<Record<string, string>> = {
  differs: 'Its contents differ.',
  onlyInSource: 'Only the source has it.',
  onlyInDestination: 'Only the destination has it.',
};

function namedIn(one: Line): NamedFailure[] {
  if ('more' in one) return [];
  if ('code' in one) return [{ path: one.path, code: one.code, message: one.message }];
  if ('result' in one) return [{ path: one.path, message: FOUND[one.result] ?? one.result }];
  return [{ path: one.paths[0] ?? '', message: one.detail }];
}

/** Undefined for a damaged one: it stands for a file without a name. */
function readLine(text: string): Line | undefined {
  try {
    return v.parse(line, JSON.parse(text));
  } catch {
    return undefined;
  }
}

export interface KnownFailures {
  /** Documents of objects in pieces. */
  readonly largeNames: readonly string[];
  /** Findings of a check or a verification. */
  readonly differences: readonly Line[];
  /** Files that failed; differences that a check found are no failures. */
  readonly failed: number;
  readonly paths: readonly string[];
  /** The list of paths is incomplete, or a deletion failed, so the whole part has to run again. */
  readonly needsAll: boolean;
  readonly isDeleting: boolean;
}

export async function readFailures(folder: FleetFolder, part: PartRequest): Promise<KnownFailures> {
  const names = await folder.names(`failures/${partName(part)}`);
  const paths = new Set<string>();
  const differences: Line[] = [];
  let [more, isDeleting] = [0, false];
  for (const name of names)
    for (const text of ((await folder.readText(name)) ?? '').split('\n')) {
      if (text === '') continue;
      const read = readLine(text);
      if (!read) more += 1;
      else if ('more' in read) more += read.more;
      else if ('code' in read) {
        paths.add(read.path);
        isDeleting ||= read.isDeleting ?? false;
      } else differences.push(read);
    }
  return {
    largeNames: names.filter((name) => name !== nameOf(part, undefined)),
    differences,
    failed: paths.size + more,
    paths: [...paths],
    needsAll: more > 0 || isDeleting,
    isDeleting,
  };
}
