/**
 * A process of its own between one worker and the stores: for each store a port whose connections share one
 * bandwidth, in each direction, as a machine's network card does. toxiproxy limits each connection alone.
 */
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface LinkRequest {
  /** Ports on the loopback. */
  readonly upstreamPorts: readonly number[];
  readonly bytesPerSecond: number;
}

/** The ports to use instead, in the same order. */
export type LinkAnswer = readonly number[];

if (process.send) {
  process.once('disconnect', () => process.exit());
  process.once('message', (request: LinkRequest) => {
    void Promise.all(request.upstreamPorts.map((port) => open(port, request.bytesPerSecond))).then((ports) =>
      process.send!(ports satisfies LinkAnswer),
    );
  });
}

function open(upstreamPort: number, bytesPerSecond: number): Promise<number> {
  const [up, down] = [createLine(bytesPerSecond), createLine(bytesPerSecond)];
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: '127.0.0.1', port: upstreamPort, noDelay: true });
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream] satisfies Socket[]) socket.on('error', end).once('close', end);
    client.pipe(up()).pipe(upstream);
    upstream.pipe(down()).pipe(client);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address) resolve(address.port);
    });
  });
}

/** Everything that passes waits its turn: the line carries one byte after another. */
function createLine(bytesPerSecond: number): () => Transform {
  let freeAtMs = 0;
  return () =>
    new Transform({
      transform(chunk: Buffer, _encoding, pass) {
        const nowMs = performance.now();
        freeAtMs = Math.max(nowMs, freeAtMs) + (chunk.length / bytesPerSecond) * 1000;
        setTimeout(() => pass(null, chunk), freeAtMs - nowMs);
      },
    });
}
