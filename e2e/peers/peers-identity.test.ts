/**
 * What the command sends to a peer before the user trusts it, and which token it sends where, over real
 * sockets.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { fingerprintOf } from '../../engine/peer/peer-certificate.ts';
import { ownCertificate } from '../../engine/peer/peer-own-certificate.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { runAtTerminal, whyNoTerminal } from '../terminal.ts';

let sandbox: Sandbox;
let server: PeerServer;
let fingerprint: string;
let requests: number;
let environment: Record<string, string>;

const place = (path = '') => `dray://127.0.0.1:${server.address.port}/${path}`;
const run = (
  parameters: readonly string[],
  more: Readonly<Record<string, string>> = {},
  standardInput = '',
) => runCli(parameters, { cwd: sandbox.folder, environment: { ...environment, ...more }, standardInput });

beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  sandbox.write('offered/a', 'content');
  requests = 0;
  const tls = await ownCertificate(sandbox.path('server'), 'there');
  fingerprint = fingerprintOf(tls.cert);
  const onRequest = () => {
    requests += 1;
  };
  server = await serveForTest(sandbox.path('offered'), { tls, onRequest });
  environment = {
    DRAY_CONFIG: sandbox.path('settings/config.json'),
    DRAY_CACHE: sandbox.path('cache'),
    DRAY_TOKEN: TEST_TOKEN,
    DRAY_TOKEN_FILE: '',
    DRAY_TOKEN_HOST: '',
  };
});
afterEach(async () => {
  await server?.close();
  sandbox?.[Symbol.dispose]();
});

const knownPeers = () => JSON.parse(readFileSync(sandbox.path('settings/known-peers.json'), 'utf8'));

describe('A new peer', () => {
  it.each([
    ['ls', () => ['ls', place()]],
    ['cat', () => ['cat', place('a')]],
    ['copy', () => ['copy', place(), 'back']],
    ['sync to it', () => ['sync', 'offered', place('to')]],
    ['check', () => ['check', 'offered', place()]],
    ['delta', () => ['delta', place('a'), 'a']],
    ['init', () => ['init', 'work', '--remote', place('repository')]],
    ['clone', () => ['clone', place('repository'), 'new']],
  ])(
    'gets no request from "%s" without a terminal, and the error says how to trust it',
    async (_name, parameters) => {
      const { exitCode, stderr } = await run(parameters());
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`--trust-peer ${fingerprint}`);
      expect(stderr).toContain('--trust-new-peer');
      expect(requests).toBe(0);
    },
  );

  it('is trusted by its fingerprint, in any notation, and needs no flag afterwards', async () => {
    const wrong = fingerprint.replace(/^../, (first) => (first === '00' ? '11' : '00'));
    expect(await run(['cat', place('a'), '--trust-peer', wrong])).toMatchObject({ exitCode: 1 });
    expect(await run(['cat', place('a'), '--trust-peer', 'AB:CD'])).toMatchObject({ exitCode: 2 });
    expect(requests).toBe(0);
    const plain = fingerprint.replaceAll(':', '').toLowerCase();
    const met = await run(['cat', place('a'), '--trust-peer', plain]);
    expect(met).toMatchObject({ exitCode: 0, stdout: 'content' });
    expect(knownPeers()).toEqual({ peers: { [`127.0.0.1:${server.address.port}`]: fingerprint } });
    expect(await run(['cat', place('a')])).toMatchObject({ exitCode: 0, stdout: 'content', stderr: '' });
  });

  it('is trusted by --trust-new-peer, which shows the fingerprint', async () => {
    const met = await run(['cat', place('a'), '--trust-new-peer']);
    expect(met).toMatchObject({ exitCode: 0, stdout: 'content' });
    expect(met.stderr).toContain(fingerprint);
    expect(await run(['cat', place('a')])).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('with another certificate than before is refused, whatever the flags say', async () => {
    await run(['cat', place('a'), '--trust-new-peer']);
    const { port } = server.address;
    await server.close();
    const tls = await ownCertificate(sandbox.path('other'), 'elsewhere');
    const before = requests;
    const onRequest = () => {
      requests += 1;
    };
    server = await serveForTest(sandbox.path('offered'), { tls, port, onRequest });
    for (const flag of [[], ['--trust-new-peer'], ['--trust-peer', fingerprintOf(tls.cert)]]) {
      const refused = await run(['cat', place('a'), ...flag]);
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toMatch(/has changed.*Nothing was sent/);
    }
    expect(requests).toBe(before);
  });

  describe.skipIf(whyNoTerminal !== undefined)(`at a terminal (${whyNoTerminal ?? 'made by script'})`, () => {
    it.each([
      ['yes', 0, true],
      ['y', 0, true],
      ['no', 1, false],
      ['', 1, false],
    ])(
      'makes Dray ask the user before it sends anything, and the answer "%s" decides',
      async (answer, exitCode, isTrusted) => {
        const asked = await runAtTerminal(['cat', place('a')], {
          cwd: sandbox.folder,
          environment,
          answers: [
            [
              /\(yes\/no\) $/,
              () => {
                expect(requests).toBe(0);
                return `${answer}\r`;
              },
            ],
          ],
        });
        expect(asked.output).toContain(fingerprint);
        expect(asked.exitCode).toBe(exitCode);
        expect(requests > 0).toBe(isTrusted);
        expect(asked.output.includes('content')).toBe(isTrusted);
      },
    );

    it('gets a token by "dray login", which hides it', async () => {
      const address = `127.0.0.1:${server.address.port}`;
      const asked = await runAtTerminal(['login', address], {
        cwd: sandbox.folder,
        environment,
        answers: [[/Token of .*: $/, () => `${TEST_TOKEN}x\x7f\r`]],
      });
      expect(asked).toMatchObject({ exitCode: 0 });
      expect(asked.output).not.toContain(TEST_TOKEN);
      const none = { DRAY_TOKEN: '' };
      expect(await run(['cat', place('a'), '--trust-new-peer'], none)).toMatchObject({ stdout: 'content' });
    });
  });
});

describe('A token', () => {
  it('from DRAY_TOKEN is sent to a typed URL, and to a remote only if DRAY_TOKEN_HOST names it', async () => {
    const there = await listenForTokens();
    await run(['ls', plainPlace(there.port)]);
    expect(there.seen).toEqual([`Bearer ${TEST_TOKEN}`]);
    there.seen.length = 0;
    await run(['remote', 'add', '--user', 'nas', plainPlace(there.port)]);
    const withheld = await run(['ls', 'nas:']);
    expect(withheld.exitCode).toBe(1);
    expect(withheld.stderr).toMatch(/dray login 'dray:.*DRAY_TOKEN was not sent/);
    expect(there.seen).toEqual([]);
    await run(['ls', 'nas:'], { DRAY_TOKEN_HOST: plainPlace(there.port) });
    expect(there.seen).toEqual([`Bearer ${TEST_TOKEN}`]);
    there.seen.length = 0;
    // The same host and port with TLS is another address.
    await run(['ls', 'nas:'], { DRAY_TOKEN_HOST: `127.0.0.1:${there.port}` });
    expect(there.seen).toEqual([]);
  });

  it("does not follow a repository's URL into its workspace: a clone asks for a login", async () => {
    sandbox.write('source/a', 'content');
    const typed = ['--trust-new-peer', '-C', sandbox.path('source')];
    expect(await run([...typed, 'init', '--remote', place('repository')])).toMatchObject({ exitCode: 0 });
    const refused = await run(['-C', sandbox.path('source'), 'push']);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stderr).toContain(`dray login 127.0.0.1:${server.address.port}`);
    const login = await run(['login', place()], {}, `${TEST_TOKEN}\n`);
    expect(login).toMatchObject({ exitCode: 0 });
    expect(await run(['-C', sandbox.path('source'), 'push', '-v'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`origin is dray://127.0.0.1:${server.address.port}/repository (from `),
    });
    const logout = ['logout', `127.0.0.1:${server.address.port}`];
    expect(await run(logout)).toMatchObject({ exitCode: 0 });
    expect(await run(logout)).toMatchObject({ exitCode: 1 });
    expect(await run(['-C', sandbox.path('source'), 'push'])).toMatchObject({ exitCode: 1 });
  });

  it('with an invalid form is refused by login', async () => {
    for (const text of ['two words\n', '', '\n', 'x'.repeat(1025)])
      expect(await run(['login', 'nas'], {}, text)).toMatchObject({ exitCode: 2 });
    expect(await run(['login', 'a b'], {}, TEST_TOKEN)).toMatchObject({ exitCode: 2 });
  });

  it('is never sent in plain text to a process that took a loopback port', async () => {
    await run(['cat', place('a'), '--trust-new-peer']);
    const { port } = server.address;
    await server.close();
    // A plain socket without TLS, as an attacker would open. It records all bytes.
    const received: Buffer[] = [];
    const taker = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        received.push(bytes);
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => taker.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => void taker.close());
    expect(await run(['cat', place('a')], SHORT_PAUSES)).toMatchObject({ exitCode: 1 });
    expect(received.length).toBeGreaterThan(0);
    expect(Buffer.concat(received).includes(TEST_TOKEN)).toBe(false);
    await new Promise((resolve) => taker.close(resolve));
    server = await serveForTest(sandbox.path('offered'));
  });
});

describe('A mismatch of TLS between client and server', () => {
  const bucket = (origin: string) => ['ls', `s3://bucket?endpoint=${origin}`, '--region', 'here'];

  it('is recognised at once, and the error says which URL to write', async () => {
    const plain = await listenForTokens();
    const at = (port: number) => `127.0.0.1:${port}`;
    const [tlsPort, plainPort] = [server.address.port, plain.port];
    const keys = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    const typed = `dray://${at(tlsPort)}`;
    for (const [parameters, remedy] of [
      [['ls', `${typed}?tls=off`], `it uses TLS (HTTP_WANTS_TLS). Remove ?tls=off from the URL: ${typed}.`],
      [['copy', 'offered', `${typed}/to?tls=off`], `Remove ?tls=off from the URL: ${typed}.`],
      [
        ['ls', `dray://${at(plainPort)}`, '--trust-new-peer'],
        `it does not use TLS (HTTP_NO_TLS). Start "dray serve" there without --tls off, or write dray://${at(plainPort)}?tls=off`,
      ],
      [bucket(`http://${at(tlsPort)}`), `it uses TLS. Write https://${at(tlsPort)} as the endpoint.`],
      [bucket(`https://${at(plainPort)}`), `or write http://${at(plainPort)} as the endpoint`],
    ] as const) {
      const { exitCode, stderr } = await run(parameters, keys);
      expect(stderr).toContain(remedy);
      expect(exitCode).toBe(1);
    }
    expect(requests).toBe(0);
    expect(plain.seen).toEqual([]);
  });
});

describe('dray serve', () => {
  it("encrypts on loopback and prints its certificate's fingerprint", async () => {
    const { startServing, stopServing } = await import('../servers/dray-serve.ts');
    sandbox.write('token', `${TEST_TOKEN}\n`);
    const serving = await startServing({
      folder: sandbox.path('offered'),
      tokenFile: sandbox.path('token'),
      more: ['--tls', 'auto'],
    });
    try {
      expect(serving.url).toBe(`dray://127.0.0.1:${serving.port}`);
      const socket = connect(serving.port, '127.0.0.1');
      const answer = new Promise<Buffer[]>((resolve, reject) => {
        const pieces: Buffer[] = [];
        socket.on('data', (piece) => pieces.push(piece));
        socket.on('close', () => resolve(pieces));
        socket.on('error', reject);
      });
      socket.end(`GET /v1/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TEST_TOKEN}\r\n\r\n`);
      expect(Buffer.concat(await answer).includes('HTTP/1.1 200')).toBe(false);
      const met = await run(['cat', `${serving.url}/a`, '--trust-peer', serving.fingerprint!]);
      expect(met).toMatchObject({ exitCode: 0, stdout: 'content' });
    } finally {
      await stopServing(serving);
    }
  });
});

/** Records the `Authorization` headers of requests and refuses them all. */
async function listenForTokens(): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const listener = createServer(({ headers }: { headers: IncomingHttpHeaders }, response) => {
    seen.push(headers.authorization ?? 'none');
    response.writeHead(401, { 'dray-peer': '1', connection: 'close' }).end();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listener.close());
  return { port: (listener.address() as AddressInfo).port, seen };
}
