/**
 * Sends notices about runs of saved jobs: by a signed webhook, a command, or mail. The failure of a channel
 * stops neither the others nor the job. A notice contains no secret: no words of the job, and no password or
 * query of a URL.
 */
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DrayError, toErrorRecord } from '../../../api/error.ts';
import type { Clock } from '../../../base/clock.ts';
import type { JobRun, NoticeKind, Notices } from '../saved-job.ts';
import { readPassword, sendMail } from './send-mail.ts';

/** The body of a webhook. Times are RFC 3339, UTC. */
export interface Notice {
  readonly notice: NoticeKind | 'test';
  readonly job: string;
  readonly host: string;
  readonly time: string;
  /** One sentence. */
  readonly message: string;
  readonly exitCode?: number;
  readonly lastSuccess?: string;
}

export interface NoticeHost {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const ATTEMPTS = 3;
const PAUSE_MS = 2_000;
const WEBHOOK_MS_MAX = 10_000;
const COMMAND_MS_MAX = 60_000;
const KEY_BYTES_MAX = 64 * 1024;
const NO_RECEIVER =
  "No test notice was sent: these notices have no webhook, mail or command. The form of the job in the window tests this computer's own.";

/** The notice for the end of a run. None for a run that the user stopped. */
export function noticeOfRun(run: JobRun, before: readonly JobRun[]): NoticeKind | undefined {
  const [previous] = before;
  // A failed run on change is retried automatically, so only the first failure is reported.
  if (previous && isFailedOnChange(previous) && isFailedOnChange(run)) return undefined;
  if (run.result === 'failed') return 'failure';
  const last = before.find(({ result }) => result === 'done' || result === 'failed');
  return run.result === 'done' && last?.result === 'failed' ? 'recovery' : undefined;
}

function isFailedOnChange({ by, result }: JobRun): boolean {
  return by === 'change' && result === 'failed';
}

export function createNotice(facts: Omit<Notice, 'host'>): Notice {
  return { ...facts, host: hostname(), message: withoutSecrets(facts.message) };
}

/** Notices on the desktop have no receiver: the windows follow the list of jobs. */
export function hasReceiver({ command, mail, webhook }: Notices): boolean {
  return command !== undefined || mail !== undefined || webhook !== undefined;
}

/** Sends a notice on request, so the user can check that it arrives. Resolves as `sendNotice`. */
export async function sendTestNotice(job: string, notices: Notices, host: NoticeHost): Promise<string[]> {
  if (!hasReceiver(notices)) return [NO_RECEIVER];
  const time = new Date(host.clock.nowMs()).toISOString();
  return sendNotice(notices, createNotice({ notice: 'test', job, time, message: 'This is a test.' }), host);
}

/** Resolves to sentences about the channels that failed. */
export async function sendNotice(notices: Notices, notice: Notice, host: NoticeHost): Promise<string[]> {
  const { command, mail, webhook } = notices;
  const channels: [string, () => Promise<void>][] = [];
  if (webhook) channels.push(['webhook', () => postWebhook(webhook, notice, host)]);
  if (command) channels.push(['command', () => runCommand(command, notice, host)]);
  if (mail) {
    const password = () => readPassword(mail, host.environment);
    channels.push([
      'mail',
      async () => sendMail({ ...mail, password: await password() }, mailOf(notice), host),
    ]);
  }
  const problems = await Promise.all(
    channels.map(async ([name, send]) => {
      try {
        await send();
        return [];
      } catch (error) {
        return [`The notice by ${name} failed: ${withoutSecrets(toErrorRecord(error).message)}`];
      }
    }),
  );
  return problems.flat();
}

/**
 * `Dray-Signature: t=SECONDS,v1=HEX` with the HMAC-SHA256 of `SECONDS.BODY` (RFC 2104). The time lets a
 * receiver refuse replayed notices.
 */
function signBody(key: Uint8Array, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;
}

async function postWebhook(
  { keyFile, url: given, urlFile }: NonNullable<Notices['webhook']>,
  notice: Notice,
  { clock, signal }: NoticeHost,
): Promise<void> {
  const body = JSON.stringify(notice);
  const url = given ?? readUrl(urlFile);
  const key = keyFile === undefined ? undefined : readKey(keyFile);
  for (let attempt = 1; ; attempt += 1) {
    const failure = await post(url, body, key ? signBody(key, body, clock.nowMs()) : undefined, signal);
    if (failure === undefined) return;
    if (attempt === ATTEMPTS || !failure.isPassing) throw failure.error;
    await clock.sleep(PAUSE_MS * attempt, signal);
  }
}

async function post(url: string, body: string, signature: string | undefined, signal: AbortSignal) {
  const where = new URL(url).host;
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        ...(signature === undefined ? {} : { 'Dray-Signature': signature }),
      },
      // Redirects are refused: only the receiver that the user named gets the notice.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_MS_MAX)]),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const error = new DrayError('remoteFailed', `${where} answered ${response.status}.`);
    return { error, isPassing: response.status >= 500 || response.status === 429 };
  } catch (cause) {
    const error = new DrayError('unreachable', `${where} cannot be reached.`, { cause });
    return { error, isPassing: !signal.aborted };
  }
}

/** @throws without the URL in its message */
function readUrl(path: string | undefined): string {
  let text = '';
  try {
    text = path === undefined ? '' : readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new DrayError('io', `The file ${path} with the URL cannot be read.`, { cause });
  }
  if (/^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text)) return text;
  throw new DrayError('usage', `The file ${path} must hold one https:// URL.`);
}

function readKey(path: string): Uint8Array {
  try {
    const key = Buffer.from(readFileSync(path, 'utf8').trim());
    if (key.length >= 16 && key.length <= KEY_BYTES_MAX) return key;
  } catch (cause) {
    throw new DrayError('io', `The key ${path} cannot be read.`, { cause });
  }
  throw new DrayError('usage', `The key in ${path} must have at least 16 characters.`);
}

/** The facts are passed in the environment, so no name can be executed as a part of the command. */
function runCommand(command: string, notice: Notice, { environment, signal }: NoticeHost): Promise<void> {
  const own = Object.entries(environment).filter(
    ([name]) => !/^(?:AWS_|DRAY_TOKEN|DRAY_KEPT_KEYS)/.test(name),
  );
  const facts = {
    DRAY_NOTICE: notice.notice,
    DRAY_JOB: notice.job,
    DRAY_HOST: notice.host,
    DRAY_TIME: notice.time,
    DRAY_MESSAGE: notice.message,
    DRAY_EXIT_CODE: String(notice.exitCode ?? ''),
    DRAY_LAST_SUCCESS: notice.lastSuccess ?? '',
  };
  const plain = Object.entries(facts).map(([name, text]) => [name, text.replaceAll('\0', '')]);
  const child = spawn(command, {
    shell: true,
    env: { ...Object.fromEntries(own), ...Object.fromEntries(plain) },
    stdio: 'ignore',
    windowsHide: true,
    timeout: COMMAND_MS_MAX,
    signal,
  });
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(new DrayError('io', 'It cannot be started.', { cause })));
    child.on('close', (code, name) => {
      if (code === 0) resolve();
      else reject(new DrayError('io', `It ended with ${code === null ? name : `exit code ${code}`}.`));
    });
  });
}

const TITLES: Readonly<Record<Notice['notice'], string>> = {
  failure: 'failed',
  recovery: 'works again',
  noSuccess: 'had no success for long',
  test: 'can send mail',
};

function mailOf({ exitCode, host, job, lastSuccess, message, notice, time }: Notice) {
  const lines = [
    `Job: ${job} on ${host}`,
    `Time: ${time}`,
    ...(exitCode === undefined ? [] : [`Exit code: ${exitCode}`]),
    ...(lastSuccess === undefined ? [] : [`Last success: ${lastSuccess}`]),
    '',
    message,
    '',
    `"dray job log ${job}" shows more.`,
  ];
  return { subject: `Dray: ${job} ${TITLES[notice]}`, text: lines.join('\n') };
}

/** Passwords in addresses, and values of queries. */
function withoutSecrets(text: string): string {
  return text
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]*@/gi, '$1')
    .replace(/([?&][^\s=&]+=)[^\s&"']+/g, '$1...')
    .replace(/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '...');
}
