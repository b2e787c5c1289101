/** The texts and ticks of the notice fields, and the settings that they mean. */
import type { NoticeSettings, SavedJobCard } from '../../../../engine/api/host/saved.ts';

export type WebhookKind = 'none' | 'url' | 'file';

export interface NoticeForm {
  readonly onFailure: boolean;
  readonly onRecovery: boolean;
  /** Empty: never. */
  readonly days: string;
  readonly desktop: boolean;
  readonly webhookKind: WebhookKind;
  readonly webhook: string;
  readonly webhookUrlFile: string;
  readonly webhookKeyFile: string;
  readonly command: string;
  /** Addresses with blanks or commas between them. */
  readonly mailTo: string;
  readonly mailFrom: string;
  readonly mailServer: string;
  readonly mailUser: string;
  readonly mailPasswordFile: string;
  readonly mailPasswordCommand: string;
}

export const NO_NOTICES: NoticeForm = {
  ...{ onFailure: true, onRecovery: true, days: '', desktop: true },
  ...{ webhookKind: 'none', webhook: '', webhookUrlFile: '', webhookKeyFile: '', command: '' },
  ...{
    mailTo: '',
    mailFrom: '',
    mailServer: '',
    mailUser: '',
    mailPasswordFile: '',
    mailPasswordCommand: '',
  },
};

export function noticeFormOf(settings: NoticeSettings | undefined): NoticeForm {
  if (!settings) return NO_NOTICES;
  const { days, desktop = true, mailTo = [], on = ['failure', 'recovery'], ...texts } = settings;
  return {
    ...NO_NOTICES,
    ...texts,
    ...{ onFailure: on.includes('failure'), onRecovery: on.includes('recovery'), desktop },
    days: days === undefined ? '' : String(days),
    mailTo: mailTo.join(', '),
    webhookKind: texts.webhookUrlFile ? 'file' : texts.webhook ? 'url' : 'none',
  };
}

/** The mail account that another job uses, so that nobody types it twice. */
export function withKnownMail(form: NoticeForm, jobs: readonly SavedJobCard[]): NoticeForm {
  if (form.mailServer !== '') return form;
  const known = jobs.find(({ notices }) => notices?.mailServer !== undefined)?.notices;
  if (!known) return form;
  const { mailFrom, mailPasswordCommand, mailPasswordFile, mailServer, mailUser } = noticeFormOf(known);
  return { ...form, mailFrom, mailPasswordCommand, mailPasswordFile, mailServer, mailUser };
}

export function areDays(text: string): boolean {
  return text === '' || (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 3_650);
}

/** Null: the defaults, which are notifications of the desktop app on failure and on recovery. */
export function noticesIn(form: NoticeForm): NoticeSettings | null {
  const { days, desktop, onFailure, onRecovery, webhookKind } = form;
  const { mailFrom, mailPasswordCommand, mailPasswordFile, mailServer, mailUser } = form;
  const mailTo = form.mailTo.split(/[\s,;]+/).filter(Boolean);
  const texts = {
    command: form.command,
    ...(webhookKind === 'url' ? { webhook: form.webhook } : {}),
    ...(webhookKind === 'file' ? { webhookUrlFile: form.webhookUrlFile } : {}),
    ...(webhookKind === 'none' ? {} : { webhookKeyFile: form.webhookKeyFile }),
    ...(mailTo.length > 0 ? { mailFrom, mailServer, mailUser, mailPasswordFile, mailPasswordCommand } : {}),
  };
  const given = Object.fromEntries(
    Object.entries(texts).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])),
  );
  const on = [...(onFailure ? ['failure' as const] : []), ...(onRecovery ? ['recovery' as const] : [])];
  const isUsual = on.length === 2 && desktop && days === '' && mailTo.length === 0;
  if (isUsual && Object.keys(given).length === 0) return null;
  return {
    on,
    ...(days === '' ? {} : { days: Number(days) }),
    ...(desktop ? {} : { desktop }),
    ...(mailTo.length > 0 ? { mailTo } : {}),
    ...given,
  };
}

/** Beyond the notifications of this computer. */
export function hasReceiver({ command, mailTo, webhookKind }: NoticeForm): boolean {
  return webhookKind !== 'none' || command.trim() !== '' || mailTo.trim() !== '';
}

export function noticeWords(form: NoticeForm): string {
  const ways = [
    ...(form.desktop ? ['on this computer'] : []),
    ...(form.webhookKind === 'none' ? [] : ['by webhook']),
    ...(form.mailTo.trim() === '' ? [] : ['by mail']),
    ...(form.command.trim() === '' ? [] : ['by a command']),
  ];
  const isNever = !form.onFailure && !form.onRecovery && form.days === '';
  return isNever || ways.length === 0 ? 'none' : ways.join(', ');
}
