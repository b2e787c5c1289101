/** Requests to remotes and their cost, by month: `usage.json` in the user's folder. */
import { join } from 'node:path';
import * as v from 'valibot';
import type { UsageRow } from '../../api/host/remotes.ts';
import type { RequestTotals } from '../../api/jobs/jobs.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';

/** The oldest rows are dropped first. */
const ROWS_MAX = 1_000;

const COUNTS = [
  'reads',
  'writes',
  'lists',
  'deletes',
  'total',
  'sentBytes',
  'receivedBytes',
  'dollars',
] as const satisfies readonly (keyof RequestTotals)[];

const SCHEMA = v.object({
  months: v.array(
    v.object({
      month: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)),
      place: v.string(),
      transfers: v.number(),
      requests: v.object(v.entriesFromList(COUNTS, v.number())),
    }),
  ),
});

export interface UsageFile {
  /** The newest month first. */
  read(): readonly UsageRow[];
  add(usage: { readonly place: string; readonly nowMs: number; readonly requests: RequestTotals }): void;
}

export function openUsageFile(folder: string): UsageFile {
  const path = join(folder, 'usage.json');
  const read = (): readonly UsageRow[] => readJsonFile(path, SCHEMA)?.months ?? [];
  return {
    read,
    add({ nowMs, place, requests }) {
      if (requests.total === 0) return;
      const month = new Date(nowMs).toISOString().slice(0, 'yyyy-mm'.length);
      const rows = read();
      const isSame = (row: UsageRow) => row.month === month && row.place === place;
      const known = rows.find(isSame);
      const row: UsageRow = {
        month,
        place,
        transfers: (known?.transfers ?? 0) + 1,
        requests: known ? sumOf(known.requests, requests) : requests,
      };
      const others = rows.filter((other) => !isSame(other));
      const months = [row, ...others].sort((a, b) => (a.month < b.month ? 1 : a.month > b.month ? -1 : 0));
      writeJsonFile(path, { months: months.slice(0, ROWS_MAX) });
    },
  };
}

function sumOf(a: RequestTotals, b: RequestTotals): RequestTotals {
  const sums = COUNTS.map((name) => [name, a[name] + b[name]] as const);
  return Object.fromEntries(sums) as unknown as RequestTotals;
}
