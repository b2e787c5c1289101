/**
 * Sends one mail by the user's own server (RFC 5321; TLS by RFC 8314 or STARTTLS of RFC 3207; AUTH PLAIN of
 * RFC 4954). Without TLS nothing goes to another machine.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { DrayError } from '../../../api/error.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Notices } from '../saved-job.ts';

type MailSettings = NonNullable<Notices['mail']>;

export interface MailServer extends Pick<MailSettings, 'from' | 'server' | 'to' | 'user'> {
  readonly password: string | undefined;
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

const SILENCE_MS_MAX = 30_000;
const REPLY_BYTES_MAX = 64 * 1024;
const PASSWORD_COMMAND_MS_MAX = 30_000;

/** @throws DrayError that names the server and its answer */
export async function sendMail(
  { from, password, server, to, user }: MailServer,
  mail: Mail,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { host, isTls, port } = parseServer(server);
  for (const address of [from, ...to]) checkAddress(address);
  let wire = await openWire(isTls ? connectTls({ host, port, ...nameOf(host) }) : connectPlain(port, host), {
    host,
    signal,
  });
  try {
    await wire.expect(220);
    let offers = await wire.ask(`EHLO ${ownName()}`, 250);
    if (!isTls && /^STARTTLS$/im.test(offers)) {
      await wire.ask('STARTTLS', 220);
      wire = await openWire(connectTls({ socket: wire.socket, ...nameOf(host), host }), { host, signal });
      offers = await wire.ask(`EHLO ${ownName()}`, 250);
    } else if (!isTls && !isLoopback(host)) {
      throw new DrayError('unsupported', `${host} does not offer TLS. Use smtps://, or a server that does.`);
    }
    if (user !== undefined) {
      const login = Buffer.from(`\0${user}\0${password ?? ''}`).toString('base64');
      await wire.ask(`AUTH PLAIN ${login}`, 235);
    }
    await wire.ask(`MAIL FROM:<${from}>`, 250);
    for (const address of to) await wire.ask(`RCPT TO:<${address}>`, 250);
    await wire.ask('DATA', 354);
    await wire.ask(`${messageOf(mail, { from, to, nowMs: clock.nowMs() })}\r\n.`, 250);
    // The server has accepted the mail, so an error of QUIT does not matter.
    await wire.ask('QUIT', 221).catch(() => {});
  } finally {
    wire.socket.destroy();
  }
}

/** `smtps://HOST[:465]` or `smtp://HOST[:587]`. @throws `usage` */
export function parseServer(text: string) {
  const found = /^(smtps?):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?\/?$/i.exec(text);
  const port = Number(found?.[3] ?? (found?.[1]?.toLowerCase() === 'smtps' ? 465 : 587));
  if (!found || port < 1 || port > 65_535)
    throw new DrayError('usage', 'The mail server must have the form smtps://HOST:PORT or smtp://HOST:PORT.');
  return { host: found[2]!.replace(/[[\]]/g, ''), port, isTls: found[1]!.toLowerCase() === 'smtps' };
}

/** @throws `usage` */
export function checkAddress(address: string): void {
  if (address.length <= 254 && /^[!-;=?A-~]+@[A-Za-z0-9.-]+$/.test(address) && !/[<>"]/.test(address)) return;
  throw new DrayError('usage', 'A mail address must have the form NAME@HOST.');
}

/** Reads the password from a file, or from the first line that a command prints. */
export async function readPassword(
  { passwordCommand, passwordFile }: Pick<MailSettings, 'passwordCommand' | 'passwordFile'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (passwordCommand !== undefined) {
    const shell = process.platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c'] : ['/bin/sh', '-c'];
    const options = { env: { ...environment }, timeout: PASSWORD_COMMAND_MS_MAX, windowsHide: true };
    return new Promise((resolve, reject) => {
      execFile(shell[0]!, [...shell.slice(1), passwordCommand], options, (error, stdout) => {
        // The error's own message would contain the command.
        if (error) reject(new DrayError('io', 'The command that prints the password of mail failed.'));
        else resolve(stdout.split(/\r?\n/, 1)[0]);
      });
    });
  }
  if (passwordFile === undefined) return undefined;
  try {
    return readFileSync(passwordFile, 'utf8').split(/\r?\n/, 1)[0];
  } catch (cause) {
    throw new DrayError('io', `The password file ${passwordFile} cannot be read.`, { cause });
  }
}

interface Wire {
  readonly socket: Socket;
  /** @throws unless the reply has this code */
  expect(code: number): Promise<string>;
  ask(line: string, code: number): Promise<string>;
}

async function openWire(
  socket: Socket,
  { host, signal }: { readonly host: string; readonly signal: AbortSignal },
): Promise<Wire> {
  let text = '';
  let failure: Error | undefined;
  let arrived = Promise.withResolvers<void>();
  const fail = (why: string, cause?: unknown) => {
    failure ??= new DrayError('unreachable', `The mail server ${host} ${why}.`, { cause });
    socket.destroy();
    arrived.resolve();
  };
  socket.setEncoding('utf8').setTimeout(SILENCE_MS_MAX, () => fail('does not answer'));
  socket.on('data', (piece: string) => {
    text += piece;
    if (text.length > REPLY_BYTES_MAX) fail('answers without end');
    arrived.resolve();
  });
  socket.on('error', (cause) => fail('cannot be reached', cause));
  socket.on('close', () => fail('closed the connection'));
  signal.addEventListener('abort', () => fail('was left'), { once: true });
  const expect = async (code: number) => {
    for (;;) {
      // In a reply of several lines, each but the last has a hyphen after the code.
      const reply = /^(?:\d{3}-[^\n]*\n)*(\d{3})(?: [^\n]*)?\r?\n/.exec(text);
      if (reply) {
        text = text.slice(reply[0].length);
        if (Number(reply[1]) === code) return reply[0].replace(/^\d{3}[ -]|\r/gm, '');
        throw new DrayError(
          'remoteFailed',
          `The mail server ${host} refused: ${reply[0].trim().slice(0, 200)}`,
        );
      }
      if (failure) throw failure;
      arrived = Promise.withResolvers();
      await arrived.promise;
    }
  };
  return {
    socket,
    expect,
    ask(line, code) {
      socket.write(`${line}\r\n`);
      return expect(code);
    },
  };
}

/** The content is in base64: no line is too long, and none is a lone dot. */
function messageOf(
  { subject, text }: Mail,
  { from, nowMs, to }: { readonly from: string; readonly to: readonly string[]; readonly nowMs: number },
): string {
  const word = Buffer.from(subject.slice(0, 200)).toString('base64');
  return [
    `From: <${from}>`,
    `To: ${to.map((address) => `<${address}>`).join(', ')}`,
    `Date: ${new Date(nowMs).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${randomUUID()}@${ownName().replace(/[^\w.-]/g, '')}>`,
    // RFC 2047: an encoded word has at most 75 characters.
    `Subject: ${word
      .match(/.{1,60}/g)!
      .map((part) => `=?UTF-8?B?${part}?=`)
      .join('\r\n ')}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    'Auto-Submitted: auto-generated',
    '',
    ...Buffer.from(text)
      .toString('base64')
      .match(/.{1,76}/g)!,
  ].join('\r\n');
}

function ownName(): string {
  const name = hostname();
  return /^[A-Za-z0-9.-]{1,255}$/.test(name) ? name : 'localhost';
}

/** The name that the certificate must have. An address does not count as a name (RFC 6066). */
function nameOf(host: string): { readonly servername?: string } {
  return isIP(host) ? {} : { servername: host };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
