/** The progress of transfers in the dock or the taskbar. */
import type { BrowserWindow } from 'electron';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import type { Electron } from './electron-parts.ts';

export interface DockProgress {
  readonly running: number;
  /** Share of all bytes, 0 to 1. Absent until the total of every transfer is known. */
  readonly fraction?: number;
}

export function progressOf(transfers: readonly Transfer[]): DockProgress {
  const active = transfers.filter(({ state }) => state === 'running' || state === 'waiting');
  const running = active.filter(({ state }) => state === 'running').length;
  let bytesDone = 0;
  let bytesTotal = 0;
  for (const transfer of active) {
    if (transfer.bytesTotal === undefined) return { running };
    bytesDone += Math.min(transfer.bytesDone, transfer.bytesTotal);
    bytesTotal += transfer.bytesTotal;
  }
  return bytesTotal === 0 ? { running } : { running, fraction: bytesDone / bytesTotal };
}

/** Electron's values: below 0 shows nothing, above 1 shows unknown progress. */
const NONE = -1;
const UNKNOWN = 2;

export function showProgress(
  { app }: Pick<Electron, 'app'>,
  window: BrowserWindow | undefined,
  { running, fraction }: DockProgress,
): void {
  app.setBadgeCount(running);
  if (!window || window.isDestroyed()) return;
  if (running === 0) window.setProgressBar(NONE);
  else if (fraction === undefined) window.setProgressBar(UNKNOWN, { mode: 'indeterminate' });
  else window.setProgressBar(fraction, { mode: 'normal' });
}
