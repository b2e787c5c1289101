/** Tells when long work has ended and nobody looks at the window. */
import type { Ending } from '../../engine/api/transfer-endings.ts';
import type { Electron } from './electron-parts.ts';

/** Notifications that are not held are collected with their listeners, before anybody has clicked them. */
const shown = new Set<InstanceType<Electron['Notification']>>();
const SHOWN_MAX = 20;

export function notify(
  { Notification }: Pick<Electron, 'Notification'>,
  { title, body }: Ending,
  onClick: () => void,
): void {
  if (!Notification.isSupported()) return;
  // Not every system tells when one is gone.
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
}
