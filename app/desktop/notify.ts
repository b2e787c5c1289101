/** Shows a notification: long work has ended and the window is not in front, or a person tests it. */
import type { Ending } from '../../engine/api/text/transfer-endings.ts';
import type { Electron } from './electron-parts.ts';

/**
 * Keeps references: Electron collects unreferenced notifications with their listeners before the user clicks
 * them.
 */
const shown = new Set<InstanceType<Electron['Notification']>>();
const SHOWN_MAX = 20;

/** @returns False if this system shows none. */
export function notify(
  { Notification }: Pick<Electron, 'Notification'>,
  { title, body }: Ending,
  onClick: () => void,
): boolean {
  if (!Notification.isSupported()) return false;
  // Not every system reports when one is closed.
  const [oldest] = shown;
  if (oldest && shown.size >= SHOWN_MAX) shown.delete(oldest);
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
  return true;
}
