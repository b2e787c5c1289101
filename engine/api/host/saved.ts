/** The requests for saved jobs. */
import type { JobLogEvent, SavedJobEvent } from '../events.ts';
import type { Nothing } from './in-workspace.ts';

export interface SavedRequests {
  /** Sends a `savedJobs` event at once and after each change, until it is stopped; never answers. */
  'saved.watch': { input: Nothing; answer: Nothing };
  /**
   * The command checks all of it, as if it was typed. With the version of a job it replaces that job, and
   * fails with `conflict` if that has another version by now.
   */
  'saved.save': {
    input: SavedJobDraft & {
      readonly version?: string;
      /** With `version`: the present name of the job, which gets the draft's. Not while it runs. */
      readonly from?: string;
      readonly notices?: NoticeSettings | null;
    };
    answer: Nothing;
  };
  /** Sends a notice by these settings, saved or not. `problems` are sentences. */
  'saved.testNotice': {
    input: OfJob & { readonly notices: NoticeSettings };
    answer: { readonly problems: readonly string[] };
  };
  /** Answers once the run has begun. It continues without the window. */
  'saved.run': { input: OfJob; answer: Nothing };
  /** Stops a run that this engine has started; `isStopping` is false for any other. */
  'saved.stop': { input: OfJob; answer: { readonly isStopping: boolean } };
  'saved.pause': { input: OfJob & { readonly isPaused: boolean }; answer: Nothing };
  /** Also removes its log. */
  'saved.remove': { input: OfJob; answer: Nothing };
  /** The newest lines, the oldest of them first. */
  'saved.log': {
    input: OfJob & { readonly lines: number };
    answer: { readonly lines: readonly SavedJobLine[] };
  };
}

export interface OfJob {
  readonly name: string;
}

export interface SavedJobDraft {
  readonly name: string;
  /** The words after `dray`. */
  readonly words: readonly string[];
  /** Where they run; default: the user's home folder. */
  readonly directory?: string;
  /** Such as `30m`, `2h` or `1d`. */
  readonly every?: string;
  /** Such as `03:00`. */
  readonly daily?: string;
  /** Five fields each. */
  readonly cron?: readonly string[];
  readonly onChange?: boolean;
  /** With `onChange`: such as `5s`. */
  readonly settle?: string;
  readonly onMount?: readonly string[];
  readonly atLogin?: boolean;
}

/**
 * When a job sends notices, and to whom. Files are on this machine. The settings hold no secret: a secret
 * stays in its file, or is printed by its command.
 */
export interface NoticeSettings {
  /** Default: both. */
  readonly on?: readonly ('failure' | 'recovery')[];
  /** Also after this many days without success. */
  readonly days?: number;
  /** Default true: a notification by the desktop app, or by a window that may. */
  readonly desktop?: boolean;
  readonly command?: string;
  readonly webhook?: string;
  readonly webhookUrlFile?: string;
  readonly webhookKeyFile?: string;
  readonly mailTo?: readonly string[];
  readonly mailFrom?: string;
  /** `smtps://HOST:PORT` or `smtp://HOST:PORT`. */
  readonly mailServer?: string;
  readonly mailUser?: string;
  readonly mailPasswordFile?: string;
  readonly mailPasswordCommand?: string;
}

export type SavedJobLine = Pick<JobLogEvent, 'time' | 'kind' | 'text'>;

/** A job as a window shows it. Times are RFC 3339. */
export interface SavedJobCard extends Omit<SavedJobEvent, 'type' | 'triggers' | 'waits'> {
  /** Other after each edit. */
  readonly version: string;
  /** The run under way began before the last edit. */
  readonly isChangedSinceStart?: boolean;
  /** Absent in jobs that an earlier version saved. */
  readonly kind?: string;
  /** The source and the destination of a copy, as they were typed. */
  readonly places: readonly string[];
  readonly triggers: readonly SavedTrigger[];
  readonly notices?: NoticeSettings;
  /** The time of the last notice about days without success. */
  readonly staleNotice?: string;
  /** When the last run ended. */
  readonly lastEnd?: string;
  /** The last run worked, and the one before had failed. */
  readonly isRecovered?: boolean;
}

export type SavedTrigger =
  | { readonly on: 'every'; readonly everyMs: number }
  | { readonly on: 'cron'; readonly expression: string }
  | { readonly on: 'change'; readonly folder: string; readonly settleMs: number }
  | { readonly on: 'mount'; readonly path: string }
  | { readonly on: 'login' };

export interface SavedJobList {
  /** In the order of their names. */
  readonly jobs: readonly SavedJobCard[];
  /** Jobs that cannot be read, as sentences. */
  readonly problems: readonly string[];
  /** Which process starts due jobs: this one, another one, or none. */
  readonly startedBy: 'here' | 'elsewhere' | 'nobody';
}
