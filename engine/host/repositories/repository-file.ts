/**
 * The records of the overview of repositories: `repositories.json` in the user's folder. It is a cache, so
 * losing it costs only requests. It is written whole under the lock of the user's settings, because two
 * windows may refresh at the same time.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';
import { changingSettings } from '../../jobs/session/user-remotes.ts';
import type { CommitHash } from '../../model/entry.ts';
import { isHash } from '../../repository/keys.ts';

/** The least recently refreshed records are dropped first. */
const RECORDS_MAX = 500;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const hash = v.custom<CommitHash>(isHash, 'not a hash');
const time = v.pipe(v.string(), v.isoTimestamp());
const month = v.object({
  month: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)),
  bytes: count,
  files: count,
  commits: count,
});
const RECORD = v.object({
  id: v.string(),
  /** The repository's id. Absent while it has no commit. */
  repository: v.exactOptional(v.string()),
  /** The store's row in the price table. */
  provider: v.string(),
  answeredAt: time,
  branch: v.exactOptional(v.string()),
  tip: v.exactOptional(
    v.object({ commit: hash, time: v.string(), author: v.string(), files: count, bytes: count }),
  ),
  growth: v.pipe(
    v.array(
      v.object({
        newest: hash,
        next: v.exactOptional(hash),
        commits: count,
        months: v.pipe(v.array(month), v.readonly()),
      }),
    ),
    v.readonly(),
  ),
  stored: v.exactOptional(v.object({ at: time, objects: count, bytes: count, recordBytes: count })),
  garbage: v.exactOptional(
    v.object({
      at: time,
      ...{ objects: count, bytes: count, garbageObjects: count, garbageBytes: count },
      ...{ youngObjects: count, youngBytes: count, commits: count, forgottenCommits: count },
      ...{ repackedPacks: count, repackedBytes: count, isCollected: v.boolean() },
      savedDollarsPerMonth: v.exactOptional(v.pipe(v.number(), v.minValue(0))),
    }),
  ),
});
const SCHEMA = v.object({ repositories: v.array(RECORD) });

export type RepositoryRecord = Readonly<v.InferOutput<typeof RECORD>>;

export interface RepositoryFileHost {
  readonly environment: JobContext['environment'];
  /** The folder of the user's files. */
  readonly folder: string;
}

export interface RepositoryFile {
  read(): ReadonlyMap<string, RepositoryRecord>;
  /** Replaces the record with this id, or removes it. */
  change(
    id: string,
    change: (known: RepositoryRecord | undefined) => RepositoryRecord | undefined,
  ): Promise<RepositoryRecord | undefined>;
}

export function openRepositoryFile(host: RepositoryFileHost): RepositoryFile {
  const path = join(host.folder, 'repositories.json');
  const read = () => readJsonFile(path, SCHEMA)?.repositories ?? [];
  return {
    read: () => new Map(read().map((record) => [record.id, record])),
    change: (id, change) =>
      changingSettings(host, () => {
        const records = read();
        const known = records.find((record) => record.id === id);
        const next = change(known);
        if (next === known) return known;
        const others = records.filter((record) => record !== known);
        writeJsonFile(path, { repositories: [...(next ? [next] : []), ...others].slice(0, RECORDS_MAX) });
        return next;
      }),
  };
}
