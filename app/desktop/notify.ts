/** Tells when long work has ended and nobody looks at the window. */
import type { Transfer } from '../../engine/api/host.ts';
import type { Electron } from './electron-parts.ts';

/** What ends sooner was watched, most likely. */
const LONG_MS = 10_000;

export interface Ending {
  readonly title: string;
  readonly body: string;
}

/** Transfers that were under way in the list before and have ended, well or badly, in this one. Those that a person cancelled are known. */
export function findEndings(before: readonly Transfer[], now: readonly Transfer[]): readonly Ending[] {
  const wereActive = new Set(
    before.filter(({ state }) => state === 'running' || state === 'waiting').map(({ id }) => id),
  );
  return now.flatMap((transfer) => {
    const { id, title, state, startedMs, endedMs } = transfer;
    if (!wereActive.has(id) || (state !== 'done' && state !== 'failed')) return [];
    if (
      state === 'done' &&
      (startedMs === undefined || endedMs === undefined || endedMs - startedMs < LONG_MS)
    )
      return [];
    return [{ title: state === 'done' ? `Done: ${title}` : `Failed: ${title}`, body: bodyOf(transfer) }];
  });
}

function bodyOf({ state, error, failed, filesDone }: Transfer): string {
  if (state === 'failed') return error?.message ?? 'Dray shows what to do.';
  const files = `${filesDone.toLocaleString('en')} ${filesDone === 1 ? 'file' : 'files'}`;
  return failed === 0
    ? `${files}.`
    : `${files}; ${failed.toLocaleString('en')} could not be read or written.`;
}

/** Notifications that are not held are collected with their listeners, before anybody has clicked them. */
const shown = new Set<InstanceType<Electron['Notification']>>();
const SHOWN_MAX = 20;

export function notify(
  { Notification }: Pick<Electron, 'Notification'>,
  { title, body }: Ending,
  onClick: () => void,
): void {
  if (!Notification.isSupported() || shown.size >= SHOWN_MAX) return;
  const notification = new Notification({ title, body });
  shown.add(notification);
  const forget = () => shown.delete(notification);
  notification.on('click', () => {
    forget();
    onClick();
  });
  notification.on('close', forget);
  notification.on('failed', forget);
  notification.show();
}
