/**
 * The time at which this user last verified each repository: `verified.json` beside the user's settings. It
 * contains no secret, and losing it loses only the times.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { JobContext, VerifyRequest, VerifySummary } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { readConfig, requireWorkspace } from '../../workspace/workspace-folder.ts';
import { allowedBy, changingSettings, userConfigFolder } from '../session/user-remotes.ts';
import { verify } from './verify.ts';

/** The oldest records are dropped first. */
const RECORDS_MAX = 500;
const REF_CHARS_MAX = 200;

const count = v.pipe(v.number(), v.minValue(0));
const SCHEMA = v.object({
  verified: v.array(
    v.object({
      repository: v.string(),
      at: v.pipe(v.string(), v.isoTimestamp()),
      missing: count,
      damaged: count,
      readDataPercent: v.exactOptional(count),
      ref: v.exactOptional(v.string()),
    }),
  ),
});
export type VerifyRecord = Readonly<v.InferOutput<typeof SCHEMA>['verified'][number]>;

/** Runs `verify` and records its end. A stopped or failed run keeps the older record. */
export async function verifyAndRecord(context: JobContext, request: VerifyRequest): Promise<VerifySummary> {
  const summary = await verify(context, request);
  try {
    await record(context, request, summary);
  } catch (error) {
    const message = `The time of this verification could not be recorded: ${(error as Error).message}`;
    context.emit({ type: 'warning', warning: 'verifyNotRecorded', message });
  }
  return summary;
}

/** By the repository's id. Empty if the file is damaged or cannot be read. */
export function readVerified(context: Pick<JobContext, 'environment'>): ReadonlyMap<string, VerifyRecord> {
  const records = new Map<string, VerifyRecord>();
  for (const each of readRecords(context))
    if (!records.has(each.repository)) records.set(each.repository, each);
  return records;
}

async function record(
  context: JobContext,
  { readDataPercent: asked, ref, sample }: VerifyRequest,
  { damaged, missing, readBytes, storedBytes }: VerifySummary,
): Promise<void> {
  const config = readConfig(requireWorkspace(context.directory, allowedBy(context)));
  const { repository } = config.remotes[context.remoteName ?? config.defaultRemote] ?? {};
  if (repository === undefined) return;
  const readDataPercent = sample ? Math.floor((1_000 * readBytes) / Math.max(1, storedBytes)) / 10 : asked;
  const made: VerifyRecord = {
    repository,
    at: new Date(systemClock.nowMs()).toISOString(),
    missing,
    damaged,
    ...(readDataPercent === undefined ? {} : { readDataPercent }),
    ...(ref === undefined ? {} : { ref: ref.slice(0, REF_CHARS_MAX) }),
  };
  await changingSettings(context, () => {
    const records = readRecords(context);
    const known = records.find((each) => each.repository === repository);
    // The verification of one commit does not replace that of the whole history.
    if (ref !== undefined && known && known.ref === undefined) return;
    const verified = [made, ...records.filter((each) => each !== known)].slice(0, RECORDS_MAX);
    replaceFile(pathOf(context), `${JSON.stringify({ verified }, undefined, 2)}\n`);
  });
}

function readRecords(context: Pick<JobContext, 'environment'>): readonly VerifyRecord[] {
  try {
    return v.parse(SCHEMA, JSON.parse(readFileSync(pathOf(context), 'utf8'))).verified;
  } catch {
    return [];
  }
}

function pathOf(context: Pick<JobContext, 'environment'>): string {
  return join(userConfigFolder(context), 'verified.json');
}
