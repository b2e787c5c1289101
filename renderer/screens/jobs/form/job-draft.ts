/** The form of a job, and the command line that it means. */
import type { NoticeSettings, SavedJobDraft, SavedTrigger } from '../../../../engine/api/host/saved.ts';
import { formatSpan } from '../../../../engine/api/text/numbers.ts';
import { areDays, NO_NOTICES, type NoticeForm, noticesIn } from './notice-draft.ts';
import { joinWords, splitWords } from './split-words.ts';

export const JOB_KINDS = ['copy', 'sync', 'check', 'push', 'pull', 'verify', 'forget', 'gc'] as const;
export type JobKind = (typeof JOB_KINDS)[number];
export type Schedule = 'none' | 'every' | 'daily' | 'weekly' | 'cron';

export interface JobForm {
  readonly name: string;
  /** The version of the edited job, as it was read. */
  readonly version?: string;
  /** The present name of a saved job. */
  readonly savedName?: string;
  readonly kind: JobKind;
  readonly source: string;
  readonly destination: string;
  /** The workspace of all kinds without two places. */
  readonly root: string;
  readonly options: string;
  /** The folder that paths of a copy start from; empty: the home folder. */
  readonly directory: string;
  /** The whole command, if it cannot be divided into the other fields. */
  readonly line?: string;
  readonly schedule: Schedule;
  readonly every: string;
  readonly time: string;
  readonly weekday: string;
  readonly cron: string;
  readonly onChange: boolean;
  readonly settle: string;
  readonly onMount: string;
  readonly atLogin: boolean;
  /** Further starts, which have no fields. */
  readonly kept: readonly SavedTrigger[];
  readonly notices: NoticeForm;
}

export const EMPTY_FORM: JobForm = {
  ...{ name: '', kind: 'copy', source: '', destination: '', root: '', options: '', directory: '' },
  ...{ schedule: 'none', every: '1h', time: '03:00', weekday: '0', cron: '0 3 * * mon-fri' },
  ...{ onChange: false, settle: '5s', onMount: '', atLogin: false, kept: [] },
  notices: NO_NOTICES,
};

/** By what an address gave, such as `kind`, `source` and `destination`. */
export function formOf(given: Readonly<Record<string, string>>): JobForm {
  const { destination = '', kind, message = '', root = '', source = '' } = given;
  const known = JOB_KINDS.find((each) => each === kind) ?? 'copy';
  const options = message === '' ? '' : joinWords(['-m', message]);
  return { ...EMPTY_FORM, kind: known, source, destination, root, options };
}

export function hasTwoPlaces(kind: JobKind): boolean {
  return kind === 'copy' || kind === 'sync' || kind === 'check';
}

/** Only a source or a workspace on this machine can report its changes. */
export function canWatch(kind: JobKind): boolean {
  return kind === 'push' || hasTwoPlaces(kind);
}

export function isTime(text: string): boolean {
  return /^([01]?\d|2[0-3]):[0-5]\d$/.test(text);
}

export function isComplete(form: JobForm): boolean {
  const { destination, kind, line, name, root, schedule, source, time } = form;
  if ((schedule === 'daily' || schedule === 'weekly') && !isTime(time)) return false;
  if (!areDays(form.notices.days) || name === '') return false;
  if (line !== undefined) return line.trim() !== '';
  const hasPlaces = hasTwoPlaces(kind) ? source !== '' && destination !== '' : root !== '';
  return hasPlaces;
}

type Draft = SavedJobDraft & {
  readonly version?: string;
  readonly from?: string;
  readonly notices: NoticeSettings | null;
};

export function draftOf(form: JobForm): Draft {
  const { kind, line, name, savedName = name, version } = form;
  const isTwo = hasTwoPlaces(kind);
  const directory = isTwo ? form.directory : form.root;
  const places = isTwo ? ['--', form.source, form.destination] : [];
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(savedName === name ? {} : { from: savedName }),
    words: line === undefined ? [kind, ...splitWords(form.options), ...places] : splitWords(line),
    ...(directory === '' ? {} : { directory }),
    ...startsOf(form),
    notices: noticesIn(form.notices),
  };
}

function startsOf(form: JobForm): Partial<SavedJobDraft> {
  const { kept, onMount, schedule, settle, time } = form;
  const every = kept.find(({ on }) => on === 'every');
  const crons = [
    ...(schedule === 'weekly' ? [weekly(form)] : schedule === 'cron' ? [form.cron] : []),
    ...kept.flatMap((trigger) => (trigger.on === 'cron' ? [trigger.expression] : [])),
  ];
  const mounts = [
    ...(onMount === '' ? [] : [onMount]),
    ...kept.flatMap((trigger) => (trigger.on === 'mount' ? [trigger.path] : [])),
  ];
  return {
    ...(schedule === 'every' ? { every: form.every } : {}),
    ...(schedule !== 'every' && every?.on === 'every' ? { every: formatSpan(every.everyMs) } : {}),
    ...(schedule === 'daily' ? { daily: time } : {}),
    ...(crons.length > 0 ? { cron: crons } : {}),
    ...(form.onChange && canWatch(form.kind) ? { onChange: true, settle } : {}),
    ...(mounts.length > 0 ? { onMount: mounts } : {}),
    ...(form.atLogin ? { atLogin: true } : {}),
  };
}

function weekly({ time, weekday }: JobForm): string {
  const [hour = '', minute = ''] = time.split(':');
  return `${Number(minute)} ${Number(hour)} * * ${weekday}`;
}
