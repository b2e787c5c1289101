import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../../../engine/base/clock.ts';
import type { Notices } from '../../../../engine/jobs/saved/saved-job.ts';
import { type CommandHost, runCommand, usageError } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { given } from '../../options/given.ts';
import { parseCount } from '../../options/global-options.ts';

interface NotifyOptions {
  readonly webhook?: string;
  readonly webhookUrlFile?: string;
  readonly webhookKeyFile?: string;
  readonly command?: string;
  readonly mailTo?: readonly string[];
  readonly mailFrom?: string;
  readonly mailServer?: string;
  readonly mailUser?: string;
  readonly mailPasswordFile?: string;
  readonly mailPasswordCommand?: string;
  readonly days?: number;
  readonly off?: true;
  readonly test?: true;
}

export function addJobNotify(job: Command, host: CommandHost): void {
  const command = job
    .command('notify')
    .description(
      'Sends a notice when a job fails, works again, or has had no success for days. Replaces the settings made before. No notice holds a secret.',
    )
    .argument('<name>', 'the job')
    .option('--webhook <url>', 'POST a JSON object there')
    .option('--webhook-url-file <file>', 'as --webhook, for a URL that is a secret: the file that holds it')
    .option('--webhook-key-file <file>', 'sign it with the key in this file (HMAC-SHA256, Dray-Signature)')
    .option('--command <line>', 'run this with the facts in DRAY_NOTICE, DRAY_JOB, DRAY_MESSAGE and others')
    .option('--mail-to <address>', 'send mail; repeatable', collect)
    .option('--mail-from <address>', 'its sender')
    .option('--mail-server <url>', 'smtps://HOST:PORT, or smtp://HOST:PORT for STARTTLS')
    .option('--mail-user <name>', 'the user at the mail server')
    .option('--mail-password-file <file>', 'the file with the password')
    .option('--mail-password-command <line>', 'a command that prints the password')
    .option('--days <n>', 'also tell after this many days without success', (text) =>
      parseCount(text, { min: 1, max: 3_650 }),
    )
    .option('--test', 'send one now')
    .option('--off', 'tell nobody any more')
    .action((name: string, options: NotifyOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          const { setNotices } = await import('../../../../engine/jobs/saved/saved-jobs.ts');
          const notices = options.off ? undefined : await noticesOf(options);
          await setNotices(context, name, notices);
          const problems = notices && options.test ? await sendTest(context, name, notices) : [];
          for (const message of problems) context.emit({ type: 'warning', warning: 'notice', message });
          return { name, failed: problems.length };
        },
        view: {
          onSummary: ({ failed }, output) => {
            if (options.off) output.note(`Dray sends no more notices about ${name}.`);
            else if (failed === 0)
              output.note(`Notices of ${name} are set${options.test ? ', and one was sent' : ''}.`);
          },
        },
      }),
    );
  addExamples(command, [
    ['dray job notify photos --webhook https://example.com/dray --webhook-key-file key', 'signed JSON'],
    ['dray job notify photos --command \'notify-send "$DRAY_JOB: $DRAY_MESSAGE"\'', 'a command'],
  ]);
}

async function noticesOf(options: NotifyOptions): Promise<Notices> {
  const { refuseSecrets } = await import('../../../../engine/jobs/saved/saved-job.ts');
  const {
    command,
    days,
    mailFrom,
    mailServer,
    mailTo = [],
    webhook,
    webhookKeyFile,
    webhookUrlFile,
  } = options;
  const hasWebhook = webhook !== undefined || webhookUrlFile !== undefined;
  if (!hasWebhook && command === undefined && mailTo.length === 0)
    throw usageError('Give --webhook, --webhook-url-file, --command or --mail-to, or --off.');
  if (webhook !== undefined && webhookUrlFile !== undefined)
    throw usageError('Give --webhook or --webhook-url-file, not both.');
  const lines = [command ?? '', options.mailPasswordCommand ?? ''].flatMap((line) => line.split(/[\s'"]+/));
  refuseSecrets([webhook ?? '', mailServer ?? '', ...lines], () => 'A setting of the notice');
  if (webhook !== undefined && !/^https?:\/\/[^/]/i.test(webhook))
    throw usageError('--webhook needs an https:// URL.');
  if (webhookKeyFile !== undefined && !hasWebhook)
    throw usageError('--webhook-key-file belongs to --webhook.');
  const atFile = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
  return {
    on: ['failure', 'recovery', ...(days === undefined ? [] : ['noSuccess' as const])],
    ...given({ days, command }),
    ...(hasWebhook
      ? {
          webhook: given({
            url: webhook,
            urlFile: atFile(webhookUrlFile),
            keyFile: atFile(webhookKeyFile),
          }),
        }
      : {}),
    ...(mailTo.length === 0
      ? {}
      : { mail: await mailOf({ ...options, mailTo }, mailServer, mailFrom, atFile) }),
  };
}

async function mailOf(
  options: NotifyOptions & { readonly mailTo: readonly string[] },
  server: string | undefined,
  from: string | undefined,
  atFile: (path: string | undefined) => string | undefined,
): Promise<NonNullable<Notices['mail']>> {
  const { checkAddress, parseServer } = await import('../../../../engine/jobs/saved/notices/send-mail.ts');
  if (server === undefined || from === undefined)
    throw usageError('--mail-to needs --mail-server and --mail-from.');
  parseServer(server);
  for (const address of [from, ...options.mailTo]) checkAddress(address);
  return {
    server,
    from,
    to: [...options.mailTo],
    ...given({
      user: options.mailUser,
      passwordFile: atFile(options.mailPasswordFile),
      passwordCommand: options.mailPasswordCommand,
    }),
  };
}

async function sendTest(
  { environment, signal }: { readonly environment: CommandHost['environment']; readonly signal: AbortSignal },
  job: string,
  notices: Notices,
): Promise<string[]> {
  const { createNotice, sendNotice } = await import('../../../../engine/jobs/saved/notices/send-notice.ts');
  const time = new Date(systemClock.nowMs()).toISOString();
  const notice = createNotice({ notice: 'test', job, time, message: 'This is a test.' });
  return sendNotice(notices, notice, { environment, signal, clock: systemClock });
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
