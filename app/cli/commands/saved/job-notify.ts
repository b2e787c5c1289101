import { type Command, InvalidArgumentError } from 'commander';
import type { NoticeSettings } from '../../../../engine/api/host/saved.ts';
import { systemClock } from '../../../../engine/base/clock.ts';
import { type CommandHost, runCommand, usageError } from '../../command-host.ts';
import { collect } from '../../options/collect.ts';
import { addExamples } from '../../options/examples.ts';
import { parseCount } from '../../options/global-options.ts';

interface NotifyOptions extends Omit<NoticeSettings, 'on'> {
  readonly on?: readonly ('failure' | 'recovery' | 'days')[];
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
    .option('--days <n>', 'also send one after this many days without success', (text) =>
      parseCount(text, { min: 1, max: 3_650 }),
    )
    .option('--on <what>', 'only on failure, recovery or days; repeatable', collectKind)
    .option('--no-desktop', 'no notification on the desktop')
    .option('--test', 'send one now')
    .option('--off', 'send no more notices')
    .action((name: string, options: NotifyOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          const { setNotices } = await import('../../../../engine/jobs/saved/saved-jobs.ts');
          const { parseNotices } = await import('../../../../engine/jobs/saved/notices/parse-notices.ts');
          const settings = options.off ? undefined : settingsIn(options);
          const notices = settings && parseNotices(settings, context.directory);
          await setNotices(context, name, notices);
          const { sendTestNotice } = await import('../../../../engine/jobs/saved/notices/send-notice.ts');
          const sender = { ...context, clock: systemClock };
          const problems = notices && options.test ? await sendTestNotice(name, notices, sender) : [];
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

function settingsIn({ desktop, off: _, on, test: __, ...rest }: NotifyOptions): NoticeSettings {
  if (on === undefined && desktop !== false && Object.keys(rest).length === 0)
    throw usageError(
      'Give --webhook, --webhook-url-file, --command, --mail-to, --days, --on or --no-desktop, or --off.',
    );
  if (on?.includes('days') && rest.days === undefined) throw usageError('--on days needs --days.');
  return {
    ...rest,
    ...(on ? { on: on.flatMap((kind) => (kind === 'days' ? [] : [kind])) } : {}),
    ...(desktop === false ? { desktop } : {}),
  };
}

function collectKind(
  text: string,
  before: NonNullable<NotifyOptions['on']> = [],
): NonNullable<NotifyOptions['on']> {
  if (text === 'failure' || text === 'recovery' || text === 'days') return [...before, text];
  throw new InvalidArgumentError('It must be failure, recovery or days.');
}
