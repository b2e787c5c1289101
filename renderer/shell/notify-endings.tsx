/**
 * In a browser, notifies when long work has ended and the window is not in front. The desktop app does this
 * itself.
 */
import { useEffect, useRef } from 'react';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import { findEndings } from '../../engine/api/transfer-endings.ts';
import { useAsk, useTransfers } from '../host/use-host.tsx';
import { goTo } from '../route.ts';

export function NotifyEndings() {
  const transfers = useTransfers();
  const { data: settings } = useAsk('settings.get', {}, { freshMs: 60_000 });
  const before = useRef<readonly Transfer[]>(undefined);
  const isWanted = settings?.notifications ?? false;
  useEffect(() => {
    if (!transfers) return;
    const endings = findEndings(before.current, transfers);
    before.current = transfers;
    if (!isWanted || document.hasFocus() || notificationPermission() !== 'granted') return;
    for (const { body, title } of endings) {
      const shown = new Notification(title, { body });
      shown.addEventListener('click', () => {
        window.focus();
        goTo('transfers');
        shown.close();
      });
    }
  }, [transfers, isWanted]);
  return null;
}

/** `none`: this browser has no notifications for this page. */
export function notificationPermission(): NotificationPermission | 'none' {
  return 'Notification' in window && window.isSecureContext ? Notification.permission : 'none';
}
