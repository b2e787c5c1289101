/** A saved job as it is stored, and what is known about its runs. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';

/** The commands that can be saved. */
export const SAVED_COMMANDS = ['copy', 'sync', 'check', 'push', 'pull', 'verify', 'forget', 'gc'] as const;

const EVERY_MS_MIN = 60_000;
const ARGUMENTS_MAX = 1_000;
const TEXT_MAX = 32_768;
const TRIGGERS_MAX = 20;

const TEXT = v.pipe(v.string(), v.minLength(1), v.maxLength(TEXT_MAX));
const TIME = v.pipe(v.number(), v.minValue(0));
const COUNT = v.pipe(v.number(), v.minValue(0));

const NOTICE_KINDS = ['failure', 'recovery', 'noSuccess'] as const;

const NOTICES = v.object({
  on: v.array(v.picklist(NOTICE_KINDS)),
  /** For `noSuccess`. */
  days: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_650))),
  /** Its URL, or the file that holds it: the URL of some services is a secret. */
  webhook: v.exactOptional(
    v.object({ url: v.exactOptional(TEXT), urlFile: v.exactOptional(TEXT), keyFile: v.exactOptional(TEXT) }),
  ),
  /** False: no notification by the desktop app or a window. */
  desktop: v.exactOptional(v.boolean()),
  command: v.exactOptional(TEXT),
  mail: v.exactOptional(
    v.object({
      server: TEXT,
      from: TEXT,
      to: v.pipe(v.array(TEXT), v.maxLength(50)),
      user: v.exactOptional(TEXT),
      passwordFile: v.exactOptional(TEXT),
      passwordCommand: v.exactOptional(TEXT),
    }),
  ),
});

const TRIGGER = v.variant('on', [
  v.object({ on: v.literal('every'), everyMs: v.pipe(v.number(), v.minValue(EVERY_MS_MIN)) }),
  v.object({ on: v.literal('cron'), expression: TEXT }),
  v.object({ on: v.literal('change'), folder: TEXT, settleMs: COUNT }),
  v.object({ on: v.literal('mount'), path: TEXT }),
  v.object({ on: v.literal('login') }),
]);

/** `job.json`. */
export const SAVED_JOB = v.object({
  name: v.string(),
  /** The meaning of the words, as their command read them. Absent in files of earlier versions. */
  kind: v.exactOptional(v.picklist(SAVED_COMMANDS)),
  /** The words that are not options, such as the source and the destination of a copy. */
  places: v.exactOptional(
    v.pipe(v.array(v.pipe(v.string(), v.maxLength(TEXT_MAX))), v.maxLength(ARGUMENTS_MAX)),
  ),
  /** The words after `dray`. */
  arguments: v.pipe(v.array(v.pipe(v.string(), v.maxLength(TEXT_MAX))), v.maxLength(ARGUMENTS_MAX)),
  /** The folder that the command runs in, absolute. */
  directory: TEXT,
  triggers: v.pipe(v.array(TRIGGER), v.maxLength(TRIGGERS_MAX)),
  isPaused: v.boolean(),
  /** Runs are due from then on: when the job was added or resumed. */
  sinceMs: TIME,
  notices: v.exactOptional(NOTICES),
});

const RUN = v.object({
  startedMs: TIME,
  endedMs: v.exactOptional(TIME),
  /** `running` without a lock on the job: its process was killed. */
  result: v.picklist(['running', 'done', 'failed', 'stopped']),
  /** The cause of the run: `hand`, `schedule`, `change`, `mount` or `login`. */
  by: v.string(),
  exitCode: v.exactOptional(v.number()),
  /** One sentence: the end of the command, or its error. */
  message: v.exactOptional(v.string()),
  /** The version of the job that it runs. */
  version: v.exactOptional(v.string()),
});

/** `state.json`; only the process that holds the job's lock writes it. */
export const JOB_STATE = v.object({
  /** The newest first. */
  runs: v.array(RUN),
  lastSuccessMs: v.exactOptional(TIME),
  progress: v.exactOptional(
    v.object({
      phase: v.string(),
      filesDone: COUNT,
      filesTotal: v.exactOptional(COUNT),
      bytesDone: COUNT,
      bytesTotal: v.exactOptional(COUNT),
      isCounting: v.exactOptional(v.boolean()),
      path: v.exactOptional(v.string()),
      bytesPerSecond: v.exactOptional(COUNT),
    }),
  ),
});

export type SavedJob = v.InferOutput<typeof SAVED_JOB>;
export type Trigger = SavedJob['triggers'][number];
export type Notices = v.InferOutput<typeof NOTICES>;
export type NoticeKind = (typeof NOTICE_KINDS)[number];
export type JobRun = v.InferOutput<typeof RUN>;
export type JobState = v.InferOutput<typeof JOB_STATE>;
/** Other after each edit of the job as it was read; the same after a pause or a run. */
export function versionOf({
  arguments: words,
  directory,
  kind,
  notices,
  places,
  triggers,
}: SavedJob): string {
  const text = JSON.stringify([words, directory, kind, places, triggers, notices]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

export type RunStart = 'hand' | 'schedule' | 'change' | 'mount' | 'login';

/** A name is also a folder's name on every system. @throws `usage` */
export function checkJobName(name: string): void {
  if (isJobName(name)) return;
  throw new DrayError(
    'usage',
    'The name of a job has up to 63 characters: a to z, 0 to 9, ".", "_" and "-". It begins with a letter or a digit.',
  );
}

export function isJobName(name: string): boolean {
  const isReserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name);
  return /^[a-z0-9][a-z0-9._-]{0,62}$/.test(name) && !name.endsWith('.') && !isReserved;
}

/** Users in addresses (maybe tokens), options and queries that are named like secrets, and known keys. */
const SECRETS: readonly RegExp[] = [
  /(?:^|=)[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/i,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /(?:^|[?&;])(?![^=&;?\s]*file=)[^=&;?\s]*(?:token|secret|passw|signature|credential|access_?key|api_?key)[^=&;?\s]*=/i,
  /^--?[a-z-]*(?:token|secret|password|passwd|access-key|api-key)(?!-file)(?:=|$)/i,
  // GitHub, Slack, Stripe, JSON Web Tokens (RFC 7519), headers of HTTP, PEM.
  /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|xox[abprs]-[\w-]{10,}|[rs]k_live_\w{16,})/,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\./,
  /\bauthorization:\s*(?:bearer|basic)\s/i,
  /\bbearer\s+(?=\S*\d)[\w.~+/=-]{16,}/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
];

/** A random secret key of AWS or token of `dray serve`, alone or as the value of an option. */
const RANDOM = /(?:^|[=:])(?:[A-Za-z0-9+/]{40}|[\w-]{43}=?)$/;
/** In random text 62 % of the letters and digits differ in kind from the one before, in names fewer. */
const RANDOM_SHARE_MIN = 0.42;

export function looksSecret(text: string): boolean {
  return SECRETS.some((pattern) => pattern.test(text)) || isRandom(RANDOM.exec(text)?.[0]);
}

function isRandom(text = ''): boolean {
  if (!(/[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text))) return false;
  const plain = text.replace(/[^A-Za-z0-9]/g, '');
  const kinds = plain.replace(/[a-z]/g, 'a').replace(/[A-Z]/g, 'A').replace(/\d/g, '0');
  const changes = [...kinds].filter((kind, at) => at > 0 && kind !== kinds[at - 1]);
  return changes.length >= plain.length * RANDOM_SHARE_MIN;
}

/** @throws `usage` without the secret in its message */
export function refuseSecrets(
  texts: readonly string[],
  nameOf = (at: number) => `Word ${at + 1} of the command`,
): void {
  for (const [at, text] of texts.entries()) {
    if (!looksSecret(text)) continue;
    throw new DrayError('usage', `${nameOf(at)} looks like a secret, and secrets are not saved in jobs.`, {
      advice: 'Keep it in an AWS profile, with "dray login", or in a file that only you can read.',
    });
  }
}
