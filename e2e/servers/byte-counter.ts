/** A proxy between a client and a server that counts the bytes of both directions, and can hold them. */
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface ByteCounter {
  readonly port: number;
  /** Bytes from clients to the server, over all connections so far. */
  sentBytes(): number;
  receivedBytes(): number;
  /** Holds both directions after this many more bytes in total. */
  holdAfter(bytes: number): void;
  /** Lets all held bytes pass, and all later ones. */
  release(): void;
  /** Resolves when no client is connected. The bytes for a killed client are counted by then. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** @param port The server's port on the loopback. */
export async function startByteCounter(port: number): Promise<ByteCounter> {
  const sockets = new Set<Socket>();
  let sentBytes = 0;
  let receivedBytes = 0;
  let holdAt = Number.POSITIVE_INFINITY;
  let waiting: (() => void)[] = [];
  const onIdle: (() => void)[] = [];
  const release = () => {
    holdAt = Number.POSITIVE_INFINITY;
    for (const go of waiting) go();
    waiting = [];
  };
  const gate = () =>
    new Transform({
      transform(chunk, _encoding, pass) {
        if (sentBytes + receivedBytes < holdAt) pass(null, chunk);
        else waiting.push(() => pass(null, chunk));
      },
    });
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: '127.0.0.1', port, noDelay: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
        if (sockets.size === 0) for (const go of onIdle.splice(0)) go();
      });
    }
    client.on('data', (chunk) => {
      sentBytes += chunk.length;
    });
    upstream.on('data', (chunk) => {
      receivedBytes += chunk.length;
    });
    client.pipe(gate()).pipe(upstream);
    upstream.pipe(gate()).pipe(client);
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
    holdAfter(bytes) {
      holdAt = sentBytes + receivedBytes + bytes;
    },
    release,
    idle: () => new Promise((resolve) => (sockets.size === 0 ? resolve() : onIdle.push(resolve))),
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
