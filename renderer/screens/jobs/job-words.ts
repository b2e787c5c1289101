/** Saved jobs in words. */
import type { NoticeSettings, SavedJobCard, SavedTrigger } from '../../../engine/api/host/saved.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import type { BadgeTone } from '../../design/badge.tsx';
import type { IconName } from '../../design/icon.tsx';

const KINDS: Readonly<Record<string, readonly [word: string, icon: IconName]>> = {
  copy: ['Copy', 'copy'],
  sync: ['Sync', 'refresh'],
  check: ['Check', 'changes'],
  push: ['Push', 'upload'],
  pull: ['Pull', 'download'],
  verify: ['Verify', 'search'],
  forget: ['Forget', 'history'],
  gc: ['Collect garbage', 'repositories'],
};

export function kindWords({ kind = '' }: SavedJobCard): readonly [word: string, icon: IconName] {
  return KINDS[kind] ?? ['Command', 'jobs'];
}

export function stateWords({ state }: SavedJobCard): readonly [tone: BadgeTone, word: string] {
  switch (state) {
    case 'running':
      return ['accent', 'Running'];
    case 'paused':
      return ['neutral', 'Paused'];
    case 'idle':
      return ['neutral', 'Idle'];
  }
}

const RESULTS: Readonly<
  Record<NonNullable<SavedJobCard['lastResult']>, readonly [tone: BadgeTone, word: string]>
> = {
  done: ['added', 'Done'],
  failed: ['deleted', 'Failed'],
  stopped: ['neutral', 'Stopped'],
  interrupted: ['deleted', 'Interrupted'],
};

export function resultWords(
  result: NonNullable<SavedJobCard['lastResult']>,
): readonly [tone: BadgeTone, word: string] {
  return RESULTS[result];
}

const DAYS = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays'];
const SHORT_DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Cron's fields in words, where they are a time of day or of a week. */
export function triggerWords(trigger: SavedTrigger): string {
  switch (trigger.on) {
    case 'every':
      return `every ${spanWords(trigger.everyMs)}`;
    case 'cron':
      return cronWords(trigger.expression);
    case 'change':
      return `when ${trigger.folder} changes`;
    case 'mount':
      return `when a disk is mounted at ${trigger.path}`;
    case 'login':
      return 'when you log in';
  }
}

const SPANS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

function spanWords(spanMs: number): string {
  const [unit, unitMs] = SPANS.find(([, ms]) => spanMs % ms === 0) ?? SPANS[3];
  return formatPlural(spanMs / unitMs, unit);
}

function cronWords(expression: string): string {
  const [minute = '', hour = '', day, month, weekday = ''] = expression.trim().split(/\s+/);
  const isTime = /^\d{1,2}$/.test(minute) && /^\d{1,2}$/.test(hour) && day === '*' && month === '*';
  const at = `at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (isTime && weekday === '*') return `every day ${at}`;
  const known = SHORT_DAYS.indexOf(weekday.toLowerCase());
  const number = /^[0-7]$/.test(weekday) ? Number(weekday) % 7 : known;
  return isTime && number >= 0 ? `${DAYS[number]} ${at}` : `by cron ${expression}`;
}

export function whyWaiting({ nextRun, state, triggers }: SavedJobCard, isStarted: boolean): string {
  if (state === 'paused') return 'Paused: only Run now starts it.';
  if (triggers.length === 0) return 'It waits for you: it has no schedule.';
  if (!isStarted) return 'Nothing starts it automatically now.';
  return nextRun === undefined ? 'It waits until that happens.' : '';
}

/** Such as `Mail on failure, after 3 days without success`. A job without settings has the default ones. */
export function noticeLine(settings: NoticeSettings = {}): string {
  const { command, days, desktop = true, mailTo = [], on = ['failure', 'recovery'] } = settings;
  const ways = [
    ...(desktop ? ['notification'] : []),
    ...(mailTo.length > 0 ? ['mail'] : []),
    ...((settings.webhook ?? settings.webhookUrlFile) ? ['webhook'] : []),
    ...(command ? ['command'] : []),
  ];
  const times = [
    ...(on.length > 0 ? [`on ${on.join(' and ')}`] : []),
    ...(days === undefined ? [] : [`after ${formatPlural(days, 'day')} without success`]),
  ];
  if (ways.length === 0 || times.length === 0) return 'No notices';
  const way = [ways.slice(0, -1).join(', '), ...ways.slice(-1)].filter(Boolean).join(' and ');
  return `${way.charAt(0).toUpperCase()}${way.slice(1)} ${times.join(', ')}`;
}
