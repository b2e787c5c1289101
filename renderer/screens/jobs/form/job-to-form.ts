/** A saved job as the form that edits it. Settings without a field are kept, so saving loses nothing. */
import type { SavedJobCard, SavedTrigger } from '../../../../engine/api/host/saved.ts';
import { formatSpan } from '../../../../engine/api/text/numbers.ts';
import { EMPTY_FORM, hasTwoPlaces, isTime, JOB_KINDS, type JobForm, type JobKind } from './job-draft.ts';
import { noticeFormOf } from './notice-draft.ts';
import { joinWords } from './split-words.ts';

export function formOfJob(job: SavedJobCard): JobForm {
  const { directory, name, version } = job;
  return {
    ...EMPTY_FORM,
    ...{ name, savedName: name, version, root: directory, directory },
    ...commandOf(job),
    ...startsOf(job.triggers),
    notices: noticeFormOf(job.notices),
  };
}

/** Options and places apart, or the whole line where only the command can separate them. */
function commandOf({ arguments: words, kind, places }: SavedJobCard): Partial<JobForm> {
  const known = JOB_KINDS.find((each) => each === kind) ?? 'copy';
  const options = optionsOf(words, places, known);
  if (kind === undefined || !options) return { kind: known, line: joinWords(words) };
  const [source = '', destination = ''] = places;
  return { kind: known, source, destination, options: joinWords(options) };
}

function optionsOf(
  [first, ...rest]: readonly string[],
  places: readonly string[],
  kind: JobKind,
): readonly string[] | undefined {
  if (first !== kind || places.length !== (hasTwoPlaces(kind) ? 2 : 0)) return undefined;
  // A place that is also the value of an option, and a line break, which no field of one line can show.
  const isPlain = places.every((place) => rest.filter((word) => word === place).length === 1);
  if (!isPlain || rest.some((word) => /[\r\n]/.test(word))) return undefined;
  return rest.filter((word) => word !== '--' && !places.includes(word));
}

type Starts = Partial<JobForm>;

/** The first of each kind has fields; others are kept as they are. */
function startsOf(triggers: readonly SavedTrigger[]): Starts {
  let form: Starts = {};
  const kept: SavedTrigger[] = [];
  for (const trigger of triggers) {
    const fields = fieldsOf(trigger);
    if (Object.keys(fields).some((field) => field in form)) kept.push(trigger);
    else form = { ...form, ...fields };
  }
  return { ...form, kept };
}

function fieldsOf(trigger: SavedTrigger): Starts {
  switch (trigger.on) {
    case 'every':
      return { schedule: 'every', every: formatSpan(trigger.everyMs) };
    case 'cron':
      return scheduleOf(trigger.expression);
    case 'change':
      return { onChange: true, settle: formatSpan(trigger.settleMs) };
    case 'mount':
      return { onMount: trigger.path };
    case 'login':
      return { atLogin: true };
  }
}

function scheduleOf(expression: string): Starts {
  const found = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-6])$/.exec(expression);
  const [, minute = '', hour = '', weekday = '*'] = found ?? [];
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (!found || !isTime(time)) return { schedule: 'cron', cron: expression };
  return weekday === '*' ? { schedule: 'daily', time } : { schedule: 'weekly', time, weekday };
}
