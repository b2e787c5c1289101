import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp2Server, createSecureServer } from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownCertificate } from '../../engine/peer/peer-own-certificate.ts';
import { checkListens } from './check-listens.ts';

/** Longer than any test: no error here comes from the limit. */
const limitMs = 3_600_000;

async function listen(server: Server = createServer()) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.close();
    await once(server, 'close');
  };
  return { address: `127.0.0.1:${port}`, close };
}

describe("Temporal's address", () => {
  it('passes when something listens there', async () => {
    const { address, close } = await listen();
    await checkListens({ address, tls: false }, { limitMs });
    await close();
  });

  it('fails at once when nothing listens there, with the address, the cause and the next step', async () => {
    const { address, close } = await listen();
    await close();
    await expect(checkListens({ address, tls: false }, { limitMs })).rejects.toMatchObject({
      code: 'unreachable',
      message: `Temporal at ${address} does not answer: nothing listens there. Check the address: --temporal, or TEMPORAL_ADDRESS. To try it on this machine, start one: temporal server start-dev`,
    });
  });

  it('is no error for a worker that is stopped meanwhile', async () => {
    const { address, close } = await listen();
    await close();
    await checkListens({ address, tls: false }, { limitMs, signal: AbortSignal.abort() });
  });

  it('fails at once when TLS is wanted and the server does not use it', async () => {
    const { address, close } = await listen(createHttp2Server());
    await checkListens({ address, tls: false }, { limitMs });
    await expect(checkListens({ address, tls: {} }, { limitMs })).rejects.toMatchObject({
      code: 'usage',
      message: `Temporal at ${address} does not use TLS. Leave out --tls, the other --tls options, and --api-key-file.`,
    });
    await close();
  });

  it('passes when the server uses TLS, and wants a certificate of the client', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-certificate-'));
    const own = await ownCertificate(folder, 'localhost');
    rmSync(folder, { recursive: true });
    const { address, close } = await listen(createSecureServer({ ...own, ca: own.cert, requestCert: true }));
    await checkListens({ address, tls: {} }, { limitMs });
    await close();
  });
});
