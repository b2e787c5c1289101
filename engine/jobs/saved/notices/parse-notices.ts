/** The settings of a job's notices, as a command line or a form has them, and as the job keeps them. */
import { resolve } from 'node:path';
import { DrayError } from '../../../api/error.ts';
import { given } from '../../../api/given.ts';
import type { NoticeSettings } from '../../../api/host/saved.ts';
import { looksSecret, type Notices, refuseSecrets } from '../saved-job.ts';
import { checkAddress, parseServer } from './send-mail.ts';

/** @param directory Where relative paths of files start. @throws `usage` without a secret in its message */
export function parseNotices(settings: NoticeSettings, directory: string): Notices {
  const { command, days, desktop, mailTo = [], webhook, webhookKeyFile, webhookUrlFile } = settings;
  const on = settings.on ?? ['failure', 'recovery'];
  const hasWebhook = webhook !== undefined || webhookUrlFile !== undefined;
  refuseSecrets(secretsIn(settings), () => 'A setting of the notice');
  if (webhook !== undefined && webhookUrlFile !== undefined)
    throw fault('Give the URL of the webhook or the file that holds it, not both.');
  if (webhook !== undefined && !(/^https?:\/\/[^/]/i.test(webhook) && URL.canParse(webhook)))
    throw fault('The webhook must be an https:// URL.');
  if (webhookKeyFile !== undefined && !hasWebhook) throw fault('The key of a webhook needs a webhook.');
  const mail = mailTo.length === 0 ? undefined : mailOf(settings, mailTo, directory);
  if (on.length === 0 && days === undefined && (hasWebhook || command !== undefined || mail))
    throw fault('Say when to send a notice: on failure, on recovery, or after days without success.');
  const urlFile = atFile(webhookUrlFile, directory);
  const keyFile = atFile(webhookKeyFile, directory);
  return {
    on: [...on, ...(days === undefined ? [] : ['noSuccess' as const])],
    ...given({ days, command, mail }),
    ...(desktop === false ? { desktop } : {}),
    ...(hasWebhook ? { webhook: given({ url: webhook, urlFile, keyFile }) } : {}),
  };
}

function mailOf(
  { mailFrom, mailPasswordCommand, mailPasswordFile, mailServer, mailUser }: NoticeSettings,
  mailTo: readonly string[],
  directory: string,
): NonNullable<Notices['mail']> {
  if (mailServer === undefined || mailFrom === undefined)
    throw fault('Mail needs a server and a sender beside its recipients.');
  parseServer(mailServer);
  for (const address of [mailFrom, ...mailTo]) checkAddress(address);
  const passwordFile = atFile(mailPasswordFile, directory);
  return {
    ...{ server: mailServer, from: mailFrom, to: [...mailTo] },
    ...given({ user: mailUser, passwordFile, passwordCommand: mailPasswordCommand }),
  };
}

/** For a form. A secret that somebody wrote into the file of the job is left out. */
export function settingsOf({ command, days, desktop, mail, on, webhook }: Notices): NoticeSettings {
  const shown: NoticeSettings = {
    on: on.filter((kind) => kind !== 'noSuccess'),
    ...given({
      days: on.includes('noSuccess') ? days : undefined,
      desktop,
      command,
      webhook: webhook?.url,
      webhookUrlFile: webhook?.urlFile,
      webhookKeyFile: webhook?.keyFile,
      mailTo: mail?.to,
      mailFrom: mail?.from,
      mailServer: mail?.server,
      mailUser: mail?.user,
      mailPasswordFile: mail?.passwordFile,
      mailPasswordCommand: mail?.passwordCommand,
    }),
  };
  const plain = Object.entries(shown).filter(([, value]) => typeof value !== 'string' || !isSecret(value));
  return Object.fromEntries(plain);
}

function secretsIn({ command, mailPasswordCommand, mailServer, webhook }: NoticeSettings): string[] {
  return [command, mailPasswordCommand, mailServer, webhook].flatMap((text) => wordsIn(text ?? ''));
}

function isSecret(text: string): boolean {
  return wordsIn(text).some(looksSecret);
}

function wordsIn(line: string): string[] {
  return line.split(/[\s'"]+/);
}

function atFile(path: string | undefined, directory: string): string | undefined {
  return path === undefined ? undefined : resolve(directory, path);
}

function fault(message: string): DrayError {
  return new DrayError('usage', message);
}
