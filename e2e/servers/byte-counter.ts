/** Lies between a client and a server and counts what goes through, whatever they say that they sent. */
import { connect, createServer, type Socket } from 'node:net';

export interface ByteCounter {
  readonly port: number;
  /** From clients to the server, of all connections so far. */
  sentBytes(): number;
  receivedBytes(): number;
  stop(): Promise<void>;
}

/** @param port Of the server, on the loopback. */
export async function startByteCounter(port: number): Promise<ByteCounter> {
  const sockets = new Set<Socket>();
  let sentBytes = 0;
  let receivedBytes = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: '127.0.0.1', port, noDelay: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {
        client.destroy();
        upstream.destroy();
      });
      socket.once('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      sentBytes += chunk.length;
    });
    upstream.on('data', (chunk) => {
      receivedBytes += chunk.length;
    });
    client.pipe(upstream);
    upstream.pipe(client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The counter has no port.');
  return {
    port: address.port,
    sentBytes: () => sentBytes,
    receivedBytes: () => receivedBytes,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
