import { describe, expect, it } from 'vitest';
import type { NoticeSettings } from '../../../api/host/saved.ts';
import { parseNotices, settingsOf } from './parse-notices.ts';

const mail = {
  mailTo: ['me@example.com'],
  mailFrom: 'dray@example.com',
  mailServer: 'smtps://mail.example.com',
};

describe('settings of notices', () => {
  it.each<NoticeSettings>([
    { on: ['failure', 'recovery'] },
    { on: [], days: 7, desktop: false },
    { on: ['failure'], webhook: 'https://example.com/dray', webhookKeyFile: '/home/me/key' },
    { on: ['recovery'], webhookUrlFile: '/home/me/url', command: 'notify-send "$DRAY_MESSAGE"' },
    { on: ['failure'], ...mail, mailUser: 'me', mailPasswordCommand: 'pass mail' },
  ])('survive being kept: %j', (settings) => {
    expect(settingsOf(parseNotices(settings, '/home/me'))).toEqual(settings);
  });

  it('resolve file names in the folder where the settings were given', () => {
    const settings = { webhookUrlFile: 'url', webhookKeyFile: '/etc/key' };
    expect(parseNotices(settings, '/work').webhook).toEqual({ urlFile: '/work/url', keyFile: '/etc/key' });
  });

  it.each<[NoticeSettings, RegExp]>([
    [{ webhook: 'ftp://example.com' }, /https/],
    [{ webhook: 'https://a', webhookUrlFile: '/url' }, /not both/],
    [{ webhookKeyFile: '/key' }, /needs a webhook/],
    [{ ...mail, mailServer: 'mail.example.com' }, /smtps:/],
    [{ mailTo: ['me@example.com'] }, /server and a sender/],
    [{ ...mail, mailTo: ['me'] }, /NAME@HOST/],
    [{ on: [], command: 'true' }, /when to send/],
  ])('are refused with a reason: %j', (settings, reason) => {
    expect(() => parseNotices(settings, '/')).toThrow(reason);
  });

  it.each<NoticeSettings>([
    { webhook: 'https://me:very-secret@example.com' },
    { webhook: 'https://example.com?token=very-secret' },
    { command: 'send --token=very-secret' },
    { ...mail, mailPasswordCommand: "echo 'password=very-secret'" },
    { ...mail, mailServer: 'smtps://me:very-secret@mail.example.com' },
  ])('with a secret are refused, and shown without it: %j', (settings) => {
    let message = '';
    try {
      parseNotices(settings, '/');
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('looks like a secret');
    expect(message).not.toContain('very-secret');
    const { command, mailPasswordCommand: passwordCommand = '', mailServer: server = '', webhook } = settings;
    const shown = settingsOf({
      on: ['failure'],
      ...(command === undefined ? {} : { command }),
      ...(webhook === undefined ? {} : { webhook: { url: webhook } }),
      mail: { server, from: '', to: [], passwordCommand },
    });
    expect(JSON.stringify(shown)).not.toContain('very-secret');
  });
});
