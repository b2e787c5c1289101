/**
 * The queue on disk: `transfers.json` in the user's folder, written whenever a transfer changes its state.
 * `transfers-progress.json` has the counts of running transfers, which the next host shows after a kill. A
 * lock file makes one host the owner of both; another host keeps its queue in memory only.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';
import { lockWorkspace } from '../../workspace/workspace-lock.ts';
import { HOST_INPUTS } from '../port/host-inputs.ts';
import type { TransferFacts } from './transfer-record.ts';

const COUNT = v.pipe(v.number(), v.minValue(0));
const SCHEMA = v.object({ transfers: v.array(v.unknown()) });
const TRANSFER = v.looseObject({
  id: v.string(),
  order: HOST_INPUTS['transfers.start'],
  title: v.string(),
  state: v.picklist(['waiting', 'running', 'paused', 'done', 'failed', 'cancelled']),
  filesDone: COUNT,
  bytesDone: COUNT,
  failed: v.optional(COUNT, 0),
  warnings: v.array(v.string()),
  failures: v.array(v.object({ path: v.string(), message: v.string() })),
});

const PROGRESS = v.object({
  runs: v.array(
    v.object({
      id: v.string(),
      phase: v.exactOptional(v.string()),
      filesDone: COUNT,
      filesTotal: v.exactOptional(COUNT),
      bytesDone: COUNT,
      bytesTotal: v.exactOptional(COUNT),
      isCounting: v.exactOptional(v.boolean()),
    }),
  ),
});

export interface TransferFile {
  /**
   * The transfers of the last host. Skips those that cannot be read, such as those of a newer version, and
   * keeps a copy of the file as `transfers.json.damaged`.
   */
  read(): TransferFacts[];
  write(transfers: readonly TransferFacts[]): void;
  /** Saves the counts of running transfers, without the durability of `write`. */
  writeProgress(running: readonly TransferFacts[]): void;
  close(): void;
}

export async function openTransferFile(folder: string, clock: Clock): Promise<TransferFile> {
  const path = join(folder, 'transfers.json');
  const lock = await takeLock(`${path}.lock`, clock);
  if (!lock) return { read: () => [], write() {}, writeProgress() {}, close() {} };
  const progressPath = join(folder, 'transfers-progress.json');
  return {
    read() {
      const found = readJsonFile(path, SCHEMA)?.transfers ?? [];
      const transfers = found
        .map((one) => v.safeParse(TRANSFER, one))
        .flatMap(({ output, success }) => (success ? [output as unknown as TransferFacts] : []));
      if (transfers.length < found.length) copyFileSync(path, `${path}.damaged`);
      if (transfers.some(({ state }) => state === 'running')) addProgress(transfers, progressPath);
      return transfers;
    },
    write: (transfers) => writeJsonFile(path, { transfers }),
    writeProgress(running) {
      const runs = running.map((facts) => v.parse(PROGRESS.entries.runs.item, facts));
      writeJsonFile(progressPath, { runs });
    },
    close: lock.release,
  };
}

function addProgress(transfers: readonly TransferFacts[], path: string): void {
  const runs = new Map(readJsonFile(path, PROGRESS)?.runs.map((run) => [run.id, run]));
  for (const facts of transfers) if (facts.state === 'running') Object.assign(facts, runs.get(facts.id));
}

async function takeLock(path: string, clock: Clock) {
  try {
    const signal = new AbortController().signal;
    return await lockWorkspace({ path, command: 'window', clock, signal, patienceMs: 0, onWait: () => {} });
  } catch (error) {
    if (error instanceof DrayError && error.code === 'locked') return undefined;
    throw error;
  }
}
