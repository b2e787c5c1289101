/** A gateway in the process of the tests, commits for it, and requests that no client library has changed. */
import { type IncomingHttpHeaders, request as send } from 'node:http';
import { afterEach, expect } from 'vitest';
import { DrayError } from '../api/error.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { createVersions } from '../jobs/versions/open-versions.ts';
import type { Reading } from '../jobs/versions/read-entry.ts';
import { type CommitHash, EMPTY_BLOB, type Entry, type FileEntry } from '../model/entry.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { createSigner } from '../remotes/s3/s3-signer.ts';
import { fileEntry, storeTestCommit, TEST_REPOSITORY } from '../repository/entries.fixture.ts';
import { moveRef, readRef } from '../repository/refs.ts';
import { Bucket } from './bucket.ts';
import { type Gateway, type GatewayOptions, startGateway } from './gateway-server.ts';
import type { KeyPair } from './s3-signature.ts';

/** @param entries In the order of their paths. */
export function writeCommit(store: ObjectStore, entries: readonly Entry[]): Promise<CommitHash> {
  return storeTestCommit(store, { kind: 'inline', entries });
}

/** @param name `heads/main`, for example. */
export async function setRef(store: ObjectStore, name: string, commit: CommitHash): Promise<void> {
  const current = await readRef(store, name);
  const expected = current ? { etag: current.etag } : ({ absent: true } as const);
  const { moved } = await moveRef(store, name, { commit, epoch: 0, repository: TEST_REPOSITORY }, expected);
  if (!moved) throw new Error(`${name} was not moved.`);
}

export interface TestGateway extends Gateway {
  readonly port: number;
  /** The errors that the gateway reported to its operator. */
  readonly failures: unknown[];
}

/** Without signatures unless there are keys. */
export async function openGateway(
  stores: Readonly<Record<string, ObjectStore>>,
  { reading, clock = systemClock, ...more }: Partial<GatewayOptions> & { readonly reading?: Reading } = {},
): Promise<TestGateway> {
  const failures: unknown[] = [];
  const buckets = Object.entries(stores).map(([name, store]): [string, Bucket] => [
    name,
    new Bucket(name, createVersions(store, reading), () => clock.monotonicMs()),
  ]);
  const gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    buckets: new Map(buckets),
    clock,
    onFailure: (error) => failures.push(error),
    ...more,
  });
  return { ...gateway, port: gateway.address.port, failures };
}

export interface TestGateways {
  /** With the store as the bucket `data`. */
  open(store: ObjectStore, clock?: Clock): Promise<TestGateway>;
  /** Ends them all. It fails if one of them reported an error to its operator. */
  end(): Promise<void>;
}

/** Call it once in a file: what is open after a test is ended then. */
export function gatewaysOfTests(): TestGateways {
  const opened: TestGateway[] = [];
  const end = async () => {
    for (const gateway of opened.splice(0)) {
      await gateway[Symbol.asyncDispose]();
      expect(gateway.failures).toEqual([]);
    }
  };
  afterEach(end);
  return {
    end,
    async open(data, clock = createStillClock()) {
      const gateway = await openGateway({ data }, { clock });
      opened.push(gateway);
      return gateway;
    },
  };
}

/** A file without content. */
export function emptyFile(path: string): FileEntry {
  return fileEntry(path, '', { sizeBytes: 0, blob: EMPTY_BLOB, location: { in: 'nowhere' } });
}

/** Stands still unless it is moved on. */
export function createStillClock(): Clock & { moveOn(ms: number): void } {
  let nowMs = Date.UTC(2026, 0);
  return {
    ...systemClock,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    moveOn: (ms) => {
      nowMs += ms;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The code of S3's error. */
  readonly code: string | undefined;
  /** The body ended before its length was reached. */
  readonly isCut: boolean;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @param path Sent as it is. */
export function ask(port: number, path: string, options: AskOptions = {}): Promise<Answer> {
  const { body, headers = {}, method = 'GET' } = options;
  return new Promise((resolve, reject) => {
    const asked = send({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', () => {});
      answer.on('close', () => {
        const received = Buffer.concat(pieces);
        const code = /<Error><Code>(\w+)</.exec(received.toString())?.[1];
        const isCut = !answer.complete;
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: received, code, isCut });
      });
    });
    asked.on('error', (cause) => reject(new DrayError('unreachable', cause.message, { cause })));
    asked.end(body);
  });
}

/** `ask` with a signature, for a path without parameters. */
export async function askSigned(port: number, path: string, keys: KeyPair): Promise<Answer> {
  const sign = createSigner({ credentials: async () => keys, clockOffsetMs: 0 });
  const host = `127.0.0.1:${port}`;
  const headers = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
  return ask(port, path, { headers: await sign({ method: 'GET', host, path, query: '', headers }, 'auto') });
}
