/** The rules of a retention policy as fields of a form. */
import { given } from '../../../engine/api/given.ts';
import type { RetentionPolicy } from '../../../engine/api/jobs/jobs.ts';

export interface RetentionForm {
  readonly last: string;
  readonly daily: string;
  readonly weekly: string;
  readonly monthly: string;
  readonly within: string;
  /** Patterns with a space between them. No name of a tag has one. */
  readonly tags: string;
}

export const NO_RULES: RetentionForm = { last: '', daily: '', weekly: '', monthly: '', within: '', tags: '' };

/** The engine's bound. */
const COUNT_MAX = 1_000_000;

export function formOfPolicy(policy: RetentionPolicy = {}): RetentionForm {
  const text = (count: number | undefined) => (count === undefined ? '' : String(count));
  return {
    last: text(policy.keepLast),
    daily: text(policy.keepDaily),
    weekly: text(policy.keepWeekly),
    monthly: text(policy.keepMonthly),
    within: policy.keepWithin ?? '',
    tags: (policy.keepTags ?? []).join(' '),
  };
}

/** The error of a field with a number. */
export function countError(text: string): string | undefined {
  const number = Number(text);
  const isGood = /^\d+$/.test(text.trim()) && number >= 1 && number <= COUNT_MAX;
  return text.trim() === '' || isGood ? undefined : 'It must be a whole number from 1.';
}

export function withinError(text: string): string | undefined {
  return text.trim() === '' || /^(?:\d{1,6}[ymdh])+$/.test(text.trim())
    ? undefined
    : 'It must be a duration such as 30d or 1y6m.';
}

/** False if a field has an error. */
export function isReadable({ daily, last, monthly, weekly, within }: RetentionForm): boolean {
  const errors = [last, daily, weekly, monthly].map(countError);
  return [...errors, withinError(within)].every((error) => error === undefined);
}

/** Undefined without a rule, or with one that cannot be read. */
export function policyOf(form: RetentionForm): RetentionPolicy | undefined {
  if (!isReadable(form)) return undefined;
  const { daily, last, monthly, tags, weekly, within } = form;
  const policy: RetentionPolicy = {
    ...countOf('keepLast', last),
    ...countOf('keepDaily', daily),
    ...countOf('keepWeekly', weekly),
    ...countOf('keepMonthly', monthly),
    ...(within.trim() === '' ? {} : { keepWithin: within.trim() }),
    ...given({ keepTags: patternsOf(tags).tags }),
  };
  return Object.keys(policy).length === 0 ? undefined : policy;
}

/** No name of a tag has a space. */
export function patternsOf(text: string): { readonly tags?: readonly string[] } {
  const tags = text.split(/\s+/).filter((pattern) => pattern !== '');
  return tags.length === 0 ? {} : { tags };
}

function countOf<Name extends string>(name: Name, text: string): { readonly [K in Name]?: number } {
  return text.trim() === '' ? {} : ({ [name]: Number(text) } as { readonly [K in Name]: number });
}

export function isSamePolicy(one: RetentionPolicy | undefined, other: RetentionPolicy | undefined): boolean {
  return JSON.stringify(formOfPolicy(one)) === JSON.stringify(formOfPolicy(other));
}
