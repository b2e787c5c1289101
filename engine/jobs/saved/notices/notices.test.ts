/** Notices over real sockets: a local web server and a local mail server. */
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { ownCertificate } from '../../../peer/peer-own-certificate.ts';
import { createSandbox, type Sandbox } from '../../session/job.fixture.ts';
import { addJob, writeJobState } from '../job-folder.ts';
import type { JobRun, SavedJob } from '../saved-job.ts';
import { noticeStaleness, readStaleNotice } from '../staleness.ts';
import { noticeRun } from './notice-run.ts';
import { createNotice, noticeOfRun, sendNotice } from './send-notice.ts';

const KEY = 'a key of at least 16 characters';
const DAY_MS = 86_400_000;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const host = (environment: Readonly<Record<string, string>> = {}) => ({
  environment: { PATH: process.env.PATH, ...environment },
  clock: { ...systemClock, sleep: async () => {} },
  signal: new AbortController().signal,
});

async function startReceiver(statuses: number[] = []) {
  const received: { body: string; signature: string }[] = [];
  let arrived = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      received.push({ body, signature: String(request.headers['dray-signature'] ?? '') });
      response.writeHead(statuses.shift() ?? 204, { Location: '/elsewhere' }).end();
      arrived.resolve();
      arrived = Promise.withResolvers();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const until = async (count: number) => {
    while (received.length < count) await arrived.promise;
  };
  return { received, until, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const notice = () =>
  createNotice({
    notice: 'failure',
    job: 'photos',
    time: '2026-01-01T00:00:00.000Z',
    message: 'https://me:pass-word@host/x?token=hidden&a=b cannot be reached. $(touch evil) é',
    exitCode: 1,
  });

describe('a webhook', () => {
  it('gets JSON with a signature that its key verifies, and no secret', async () => {
    const { received, url } = await startReceiver();
    const keyFile = sandbox.path('key');
    writeFileSync(keyFile, `${KEY}\n`);
    expect(await sendNotice({ on: ['failure'], webhook: { url, keyFile } }, notice(), host())).toEqual([]);
    const [{ body, signature }] = received as [(typeof received)[number]];
    const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature)!;
    expect(createHmac('sha256', KEY).update(`${seconds}.${body}`).digest('hex')).toBe(hex);
    expect(JSON.parse(body)).toMatchObject({ notice: 'failure', job: 'photos', exitCode: 1 });
    for (const secret of ['pass-word', 'hidden']) expect(body).not.toContain(secret);
  });

  it('gets its URL from a file where the URL is a secret, which no problem repeats', async () => {
    const { received, url } = await startReceiver([403]);
    const urlFile = sandbox.path('url');
    writeFileSync(urlFile, `${url}/very-secret\n`);
    const [problem] = await sendNotice({ on: ['failure'], webhook: { urlFile } }, notice(), host());
    expect(received).toHaveLength(1);
    expect(problem).toMatch(/answered 403/);
    expect(problem).not.toContain('very-secret');
    writeFileSync(urlFile, 'very-secret');
    const [other] = await sendNotice({ on: ['failure'], webhook: { urlFile } }, notice(), host());
    expect(other).toMatch(/must hold one https/);
    expect(other).not.toContain('very-secret');
  });

  it('is tried again while the receiver fails, never at another address, and reports what is final', async () => {
    const failing = await startReceiver([503, 429]);
    const to = (url: string) => ({ on: ['failure' as const], webhook: { url } });
    expect(await sendNotice(to(failing.url), notice(), host())).toEqual([]);
    expect(failing.received).toHaveLength(3);
    const refusing = await startReceiver([404]);
    expect(await sendNotice(to(refusing.url), notice(), host())).toEqual([
      expect.stringMatching(/^The notice by webhook failed: .* answered 404\.$/),
    ]);
    const redirecting = await startReceiver([302, 302, 302]);
    expect(await sendNotice(to(redirecting.url), notice(), host())).toHaveLength(1);
    expect(redirecting.received.every(({ body }) => body !== '')).toBe(true);
    expect(redirecting.received).toHaveLength(3);
  });
});

describe.skipIf(process.platform === 'win32')('a command', () => {
  it('gets the facts in its environment, as text, and no key', async () => {
    const out = sandbox.path('out');
    const command = `printf '%s|' "$DRAY_NOTICE" "$DRAY_JOB" "$DRAY_MESSAGE" "$DRAY_EXIT_CODE" "$AWS_SECRET_ACCESS_KEY" "$DRAY_TOKEN" > '${out}'`;
    const keys = { AWS_SECRET_ACCESS_KEY: 'very-secret', DRAY_TOKEN: 'very-secret' };
    expect(await sendNotice({ on: ['failure'], command }, notice(), host(keys))).toEqual([]);
    const message = 'https://host/x?token=...&a=... cannot be reached. $(touch evil) é';
    expect(readFileSync(out, 'utf8')).toBe(`failure|photos|${message}|1|||`);
  });

  it('that fails is reported', async () => {
    expect(await sendNotice({ on: ['failure'], command: 'exit 3' }, notice(), host())).toEqual([
      'The notice by command failed: It ended with exit code 3.',
    ]);
  });
});

/** Takes mail as RFC 5321 has it; with a certificate it offers STARTTLS. */
async function startMailSink(tls?: { readonly cert: string; readonly key: string }) {
  const lines: string[] = [];
  const serve = (socket: Socket, isTls: boolean) => {
    let text = '';
    let isData = false;
    const reply = (line: string) => socket.write(`${line}\r\n`);
    const take = (line: string) => {
      lines.push(line);
      if (isData) {
        if (line !== '.') return;
        isData = false;
        reply('250 taken');
      } else if (line.startsWith('EHLO')) {
        reply('250-sink');
        reply(tls && !isTls ? '250 STARTTLS' : '250 AUTH PLAIN');
      } else if (line === 'STARTTLS') {
        reply('220 go');
        socket.removeAllListeners('data');
        serve(new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(tls) }), true);
      } else if (line === 'DATA') {
        isData = true;
        reply('354 go');
      } else if (line === 'QUIT') socket.end('221 bye\r\n');
      else if (line.startsWith('AUTH')) reply('235 welcome');
      else if (line.includes('refused@')) reply('550 no such user');
      else reply('250 ok');
    };
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      text += String(piece);
      const all = text.split('\r\n');
      text = all.pop()!;
      for (const line of all) take(line);
    });
  };
  const server = createTcpServer((socket) => {
    serve(socket, false);
    socket.write('220 sink\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return { lines, server: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('mail', () => {
  const mail = (server: string, to = 'you@example.com') => ({
    on: ['failure' as const],
    mail: { server, from: 'dray@example.com', to: [to] },
  });

  it('arrives, with the password of a file or of a command', async () => {
    const { lines, server } = await startMailSink();
    const passwordFile = sandbox.path('password');
    writeFileSync(passwordFile, 'letmein\n');
    const { mail: plain, on } = mail(server);
    const login = `AUTH PLAIN ${Buffer.from('\0me\0letmein').toString('base64')}`;
    for (const password of [{ passwordFile }, { passwordCommand: 'echo letmein' }]) {
      lines.length = 0;
      const notices = { on, mail: { ...plain, user: 'me', ...password } };
      expect(await sendNotice(notices, notice(), host())).toEqual([]);
      expect(lines).toContain(login);
    }
    expect(lines).toContain('MAIL FROM:<dray@example.com>');
    expect(lines).toContain('RCPT TO:<you@example.com>');
    const start = lines.indexOf('', lines.indexOf('DATA'));
    const body = Buffer.from(lines.slice(start, lines.indexOf('.')).join(''), 'base64').toString();
    expect(body).toMatch(/^Job: photos on /);
    expect(body).toContain('cannot be reached. $(touch evil) é');
    expect(body).not.toContain('pass-word');
    const subject = /^Subject: =\?UTF-8\?B\?(.*)\?=$/m.exec(lines.join('\n'))![1]!;
    expect(Buffer.from(subject, 'base64').toString()).toBe('Dray: photos failed');
  });

  it('is not sent to a server whose certificate nobody vouches for', async () => {
    const { lines, server } = await startMailSink(await ownCertificate(sandbox.path('server'), 'there'));
    const [problem] = await sendNotice(mail(server), notice(), host());
    expect(problem).toContain('The notice by mail failed: The mail server 127.0.0.1 cannot be reached.');
    expect(lines.some((line) => line.startsWith('MAIL'))).toBe(false);
  });

  it('that the server refuses is reported with its answer', async () => {
    const { server } = await startMailSink();
    const [problem] = await sendNotice(mail(server, 'refused@example.com'), notice(), host());
    expect(problem).toContain('The mail server 127.0.0.1 refused: 550 no such user');
  });

  it.each(['a@b\r\nRCPT TO:<c@d>', 'a', '<a@b>', 'a b@c'])('takes no address such as %j', async (to) => {
    const { lines, server } = await startMailSink();
    expect(await sendNotice(mail(server, to), notice(), host())).toHaveLength(1);
    expect(lines).toEqual([]);
  });
});

describe('a notice', () => {
  const run = (result: JobRun['result']): JobRun => ({ startedMs: 1, result, by: 'schedule' });

  it('is for a failure and for the first success after it, not for a stop', () => {
    expect(noticeOfRun(run('failed'), [])).toBe('failure');
    expect(noticeOfRun(run('done'), [])).toBeUndefined();
    expect(noticeOfRun(run('done'), [run('failed')])).toBe('recovery');
    expect(noticeOfRun(run('done'), [run('stopped'), run('failed')])).toBe('recovery');
    expect(noticeOfRun(run('done'), [run('done'), run('failed')])).toBeUndefined();
    expect(noticeOfRun(run('stopped'), [run('failed')])).toBeUndefined();
  });

  it('is for the first failure on change, not for each time that it is tried again', () => {
    const failed: JobRun = { ...run('failed'), by: 'change' };
    expect(noticeOfRun(failed, [])).toBe('failure');
    expect(noticeOfRun(failed, [failed])).toBeUndefined();
    expect(noticeOfRun(run('failed'), [failed])).toBe('failure');
    expect(noticeOfRun({ ...run('done'), by: 'change' }, [failed, failed])).toBe('recovery');
  });

  it('follows a run, and after days without success comes once in as many days', async () => {
    const { received, until, url } = await startReceiver();
    const folder = sandbox.path('jobs');
    const job: SavedJob = {
      ...{ name: 'photos', arguments: ['push'], directory: '/', triggers: [], isPaused: false, sinceMs: 0 },
      notices: { on: ['failure', 'recovery', 'noSuccess'], days: 2, webhook: { url } },
    };
    addJob(folder, job);
    const kinds = () => received.map(({ body }) => JSON.parse(body).notice);
    const failed: JobRun = { ...run('failed'), exitCode: 1, message: 'No network.' };
    writeJobState(folder, 'photos', { runs: [failed], lastSuccessMs: Date.now() - 3 * DAY_MS });
    await noticeRun({ folder, job, before: [] }, host());
    expect(kinds()).toEqual(['failure']);
    const look = noticeStaleness({ ...host(), folder });
    expect(readStaleNotice(folder, 'photos')).toBe(0);
    await look(job);
    const noticedMs = readStaleNotice(folder, 'photos');
    expect(noticedMs).toBeGreaterThan(0);
    await look(job);
    await until(2);
    expect(readStaleNotice(folder, 'photos')).toBe(noticedMs);
    writeJobState(folder, 'photos', { runs: [run('done'), failed], lastSuccessMs: Date.now() });
    await look(job);
    await noticeRun({ folder, job, before: [failed] }, host());
    expect(kinds()).toEqual(['failure', 'noSuccess', 'recovery']);
  });
});
