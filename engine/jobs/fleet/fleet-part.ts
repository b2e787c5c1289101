/** The documents of parts. */
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import type { PartRequest } from '../../api/jobs/fleet.ts';
import type { FleetFolder } from './fleet-folder.ts';

const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
/** A `SegmentRef`. */
export const segmentRef = v.object({
  hash,
  ...{ first: v.string(), last: v.string() },
  ...{ files: v.number(), links: v.number(), folders: v.number(), bytes: v.number() },
});

const committed = v.object({
  /** The commits that the plan has read. The first part lists them all. */
  commits: v.number(),
  /** The refs and commits that the plan could not read. */
  unreadable: v.array(v.string()),
  /** Commits that contain their entries. */
  inlineCommits: v.array(hash),
  segments: v.array(
    v.object({
      commit: hash,
      segment: segmentRef,
    }),
  ),
});

const part = v.object({
  range: v.number(),
  number: v.number(),
  /** Bounds as in `KeyRange`. */
  after: v.optional(v.string()),
  upTo: v.optional(v.string()),
  /** Its range has no more parts. */
  isLast: v.boolean(),
  files: v.number(),
  bytes: v.number(),
  /** Objects that are moved in pieces, and are not counted as files. */
  large: v.array(v.object({ key: v.string(), sizeBytes: v.number() })),
  /** For a verification. */
  committed: v.optional(committed),
});

export type FleetPart = v.InferOutput<typeof part>;

/** Such as `00003-000017`. */
export function partName({ number, range }: PartRequest): string {
  return `${String(range).padStart(5, '0')}-${String(number).padStart(6, '0')}`;
}

function nameOf(request: PartRequest): string {
  return `parts/${partName(request)}.json`;
}

export function readPart(folder: FleetFolder, request: PartRequest): Promise<FleetPart | undefined> {
  return folder.read(nameOf(request), part);
}

/** @throws `notFound` */
export async function knownPart(folder: FleetFolder, request: PartRequest): Promise<FleetPart> {
  const found = await readPart(folder, request);
  if (found) return found;
  const message = `The fleet's job ${folder.id} has no part ${partName(request)}.`;
  throw new DrayError('notFound', message, { data: { ...request } });
}

/** Returns the stored part: this one, or the one that another worker wrote before. */
export async function writePart(folder: FleetFolder, value: FleetPart): Promise<FleetPart> {
  return (await folder.writeNew(nameOf(value), value)) ? value : knownPart(folder, value);
}

/** For a plan that is deterministic, so replacing a part changes nothing. */
export function replacePart(folder: FleetFolder, value: FleetPart): Promise<void> {
  return folder.write(nameOf(value), value);
}
