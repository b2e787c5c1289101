/**
 * A real store behind a network that a test can slow down, cut and restore. Bytes on the wire are counted.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { type ByteCounter, startByteCounter } from '../../servers/byte-counter.ts';
import { type RequestGate, startRequestGate } from '../../servers/request-gate.ts';
import { type BadNetwork, startToxiproxy } from '../../servers/toxiproxy.ts';
import { type LoggedRequest, type S3Server, startVersitygw } from '../../servers/versitygw.ts';

export interface SlowStore extends AsyncDisposable {
  readonly server: S3Server;
  readonly network: BadNetwork;
  readonly counter: ByteCounter;
  /** Between the network and the store. */
  readonly gate: RequestGate;
  /** For `dray ui`: connects through the counter and the network. */
  readonly environment: Readonly<Record<string, string>>;
  /** The number of answered requests of this operation, such as `UploadPart`. */
  answered(operation: LoggedRequest['operation']): Promise<number>;
  /** The output of `dray uploads list`, without the slow network. */
  uploads(): Promise<string>;
  /** Reads an object from the store's folder. */
  read(key: string): Buffer;
}

export async function startSlowStore(): Promise<SlowStore> {
  const server = await startVersitygw();
  const gate = await startRequestGate(server.endpoint);
  const network = await startToxiproxy({ upstream: gate.endpoint });
  const counter = await startByteCounter(Number(new URL(network.endpoint).port));
  const place = `s3://${server.bucket}/`;
  return {
    server,
    network,
    counter,
    gate,
    environment: { ...server.environment, AWS_ENDPOINT_URL: `http://127.0.0.1:${counter.port}` },
    answered: async (operation) =>
      (await server.requests()).filter((request) => request.operation === operation && request.status < 300)
        .length,
    uploads: async () =>
      (
        await runCli(['uploads', 'list', place], {
          cwd: server.dataFolder,
          environment: { ...server.environment },
        })
      ).stdout,
    read: (key) => readFileSync(join(server.dataFolder, server.bucket, key)),
    async [Symbol.asyncDispose]() {
      await counter.stop();
      await network.stop();
      await gate[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}
