import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { checkListens } from './check-listens.ts';

/** Longer than any test: no error here comes from the limit. */
const limitMs = 3_600_000;

async function listen() {
  const server = createServer().listen(0, '127.0.0.1');
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
    await checkListens(address, { limitMs });
    await close();
  });

  it('fails at once when nothing listens there, with the address, the cause and the next step', async () => {
    const { address, close } = await listen();
    await close();
    await expect(checkListens(address, { limitMs })).rejects.toMatchObject({
      code: 'unreachable',
      message: `Temporal at ${address} does not answer: nothing listens there. Check the address: --temporal, or TEMPORAL_ADDRESS. To try it on this machine, start one: temporal server start-dev`,
    });
  });

  it('is no error for a worker that is stopped meanwhile', async () => {
    const { address, close } = await listen();
    await close();
    await checkListens(address, { limitMs, signal: AbortSignal.abort() });
  });
});
