/** Sends a notice when a job has not succeeded for the chosen number of days, and again after as many. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../base/replace-file.ts';
import { folderOf, readJobState } from './job-folder.ts';
import { createNotice, type NoticeHost, sendNotice } from './notices/send-notice.ts';
import { openRunLog } from './run-log.ts';
import type { SavedJob } from './saved-job.ts';

const DAY_MS = 24 * 3_600_000;

export function noticeStaleness(host: NoticeHost & { readonly folder: string }) {
  const { clock, folder } = host;
  return async (job: SavedJob): Promise<void> => {
    const { notices } = job;
    if (job.isPaused || !notices?.on.includes('noSuccess') || notices.days === undefined) return;
    const { lastSuccessMs } = readJobState(folder, job.name);
    const nowMs = clock.nowMs();
    const spanMs = notices.days * DAY_MS;
    const sinceMs = Math.max(lastSuccessMs ?? job.sinceMs, readStaleNotice(folder, job.name));
    if (nowMs - sinceMs < spanMs) return;
    // Recorded before it is sent, so a crash cannot repeat it.
    replaceFile(pathOf(folder, job.name), String(nowMs), 0o600);
    const lastSuccess =
      lastSuccessMs === undefined ? {} : { lastSuccess: new Date(lastSuccessMs).toISOString() };
    const time = new Date(nowMs).toISOString();
    const message = `The job has not succeeded for ${notices.days} days.`;
    const notice = createNotice({ notice: 'noSuccess', job: job.name, time, message, ...lastSuccess });
    const log = openRunLog(folderOf(folder, job.name), clock);
    log.write('notice', message);
    // The scheduler does not wait for a slow receiver.
    void sendNotice(notices, notice, host).then((problems) => {
      for (const problem of problems) log.write('error', problem);
    });
  };
}

/**
 * The time of the last notice; 0 if there was none. A time in the future, from before the clock was set back,
 * does not count.
 */
export function readStaleNotice(folder: string, name: string): number {
  try {
    const timeMs = Number(readFileSync(pathOf(folder, name), 'utf8'));
    return timeMs <= Date.now() ? timeMs : 0;
  } catch {
    return 0;
  }
}

function pathOf(folder: string, name: string): string {
  return join(folderOf(folder, name), 'staleness.txt');
}
