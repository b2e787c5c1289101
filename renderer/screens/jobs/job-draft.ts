/** The form of a new job, and the command line that it means. */
import type { SavedJobDraft } from '../../../engine/api/host/saved.ts';
import { splitWords } from './split-words.ts';

const JOB_KINDS = ['copy', 'sync', 'check', 'push', 'pull', 'verify'] as const;
export type JobKind = (typeof JOB_KINDS)[number];
export type Schedule = 'none' | 'every' | 'daily' | 'weekly' | 'cron';

export interface JobForm {
  readonly name: string;
  readonly kind: JobKind;
  readonly source: string;
  readonly destination: string;
  /** The workspace of a push, a pull or a verify. */
  readonly root: string;
  readonly options: string;
  readonly schedule: Schedule;
  readonly every: string;
  readonly time: string;
  readonly weekday: string;
  readonly cron: string;
  readonly onChange: boolean;
  readonly onMount: string;
  readonly atLogin: boolean;
}

export const EMPTY_FORM: JobForm = {
  ...{ name: '', kind: 'copy', source: '', destination: '', root: '', options: '' },
  ...{ schedule: 'none', every: '1h', time: '03:00', weekday: '0', cron: '0 3 * * mon-fri' },
  ...{ onChange: false, onMount: '', atLogin: false },
};

/** By what an address gave, such as `kind`, `source` and `destination`. */
export function formOf(given: Readonly<Record<string, string>>): JobForm {
  const { destination = '', kind, root = '', source = '' } = given;
  const known = JOB_KINDS.find((each) => each === kind) ?? 'copy';
  return { ...EMPTY_FORM, kind: known, source, destination, root };
}

export function hasTwoPlaces(kind: JobKind): boolean {
  return kind === 'copy' || kind === 'sync' || kind === 'check';
}

/** Only a source or a workspace of this machine tells of its changes. */
export function canWatch(kind: JobKind): boolean {
  return kind !== 'pull' && kind !== 'verify';
}

export function isTime(text: string): boolean {
  return /^([01]?\d|2[0-3]):[0-5]\d$/.test(text);
}

export function isComplete(form: JobForm): boolean {
  const { destination, kind, name, root, schedule, source, time } = form;
  if ((schedule === 'daily' || schedule === 'weekly') && !isTime(time)) return false;
  const hasPlaces = hasTwoPlaces(kind) ? source !== '' && destination !== '' : root !== '';
  return name !== '' && hasPlaces;
}

export function draftOf(form: JobForm): SavedJobDraft {
  const { cron, every, kind, name, onMount, options, root, schedule, time } = form;
  const isTwo = hasTwoPlaces(kind);
  const places = isTwo ? ['--', form.source, form.destination] : [];
  return {
    name,
    words: [kind, ...splitWords(options), ...places],
    ...(isTwo ? {} : { directory: root }),
    ...(schedule === 'every' ? { every } : {}),
    ...(schedule === 'daily' ? { daily: time } : {}),
    ...(schedule === 'weekly' ? { cron: weekly(form) } : {}),
    ...(schedule === 'cron' ? { cron } : {}),
    ...(form.onChange && canWatch(kind) ? { onChange: true } : {}),
    ...(onMount === '' ? {} : { onMount }),
    ...(form.atLogin ? { atLogin: true } : {}),
  };
}

function weekly({ time, weekday }: JobForm): string {
  const [hour = '', minute = ''] = time.split(':');
  return `${Number(minute)} ${Number(hour)} * * ${weekday}`;
}
