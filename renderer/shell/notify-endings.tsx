/**
 * In a browser, notifies when long work has ended and the window is not in front. The desktop app does this
 * itself.
 */
import { useEffect, useRef } from 'react';
import type { SavedJobList } from '../../engine/api/host/saved.ts';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import { findJobEndings, testEnding } from '../../engine/api/text/job-endings.ts';
import { type Ending, findEndings } from '../../engine/api/text/transfer-endings.ts';
import { useSavedJobs } from '../host/saved-jobs.tsx';
import { useAsk, useTransfers } from '../host/use-host.tsx';
import { goTo, type ScreenName } from '../route.ts';

export function NotifyEndings() {
  const transfers = useTransfers();
  const { data: settings } = useAsk('settings.get', {}, { freshMs: 60_000 });
  const before = useRef<readonly Transfer[]>(undefined);
  const isWanted = settings?.notifications ?? false;
  useEffect(() => {
    if (!transfers) return;
    const endings = findEndings(before.current, transfers);
    before.current = transfers;
    if (isWanted) show(endings, 'transfers');
  }, [transfers, isWanted]);
  const jobs = useSavedJobs();
  const jobsBefore = useRef<SavedJobList>(undefined);
  useEffect(() => {
    if (!jobs) return;
    const endings = findJobEndings(jobsBefore.current, jobs, performance.timeOrigin);
    jobsBefore.current = jobs;
    if (isWanted) show(endings, 'jobs');
  }, [jobs, isWanted]);
  return null;
}

function show(endings: readonly Ending[], screen: ScreenName): void {
  if (document.hasFocus() || notificationPermission() !== 'granted') return;
  for (const ending of endings) notify(ending, screen);
}

function notify({ body, title }: Ending, screen: ScreenName): void {
  const shown = new Notification(title, { body });
  shown.addEventListener('click', () => {
    window.focus();
    goTo(screen);
    shown.close();
  });
}

/** Shows a notification as one about this job, wherever the person looks. @returns Why none was shown. */
export async function testNotification(job: string): Promise<string | undefined> {
  if (window.dray)
    return (await window.dray.testNotice(job)) ? undefined : 'This system shows no notifications.';
  const permission = notificationPermission();
  const test = (now: Permission) => {
    if (now === 'granted') notify(testEnding(job), 'jobs');
  };
  test(permission);
  // The person may leave the question unanswered, or answer it later.
  if (permission === 'default') void Notification.requestPermission().then(test);
  return permission === 'granted' ? undefined : WHY_NOT_SHOWN[permission];
}

export const WHY_NOT_SHOWN: Readonly<Record<Exclude<Permission, 'granted'>, string>> = {
  default: 'This browser needs your permission to show notifications of this page.',
  denied: 'This browser blocks notifications of this page. Allow them in its site permissions.',
  none: 'This browser does not support notifications for this page.',
};

type Permission = NotificationPermission | 'none';

/** `none`: this browser has no notifications for this page. */
export function notificationPermission(): Permission {
  return 'Notification' in window && window.isSecureContext ? Notification.permission : 'none';
}
