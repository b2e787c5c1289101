/**
 * A real S3 server for a test file: versitygw on its own folder. Its access log shows the requests that it
 * got.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { createS3Sender, type S3Connection } from '../../engine/remotes/s3/s3-connection.ts';
import { resolvePlace } from '../../engine/remotes/s3/s3-options.ts';
import { roomyFolder } from './memory-folder.ts';
import { createS3Environment } from './s3-environment.ts';
import { freePort, startProcess, toolPath, waitUntilReady } from './tools.ts';

/** The common interface of the tests' S3 servers. */
export interface S3Endpoint extends AsyncDisposable {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Created through the API, and empty. */
  readonly bucket: string;
  /** `AWS_*` for a child process, or for `S3Options.environment`. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * The folder of the server's data, `<bucket>/<key>` below it. The form of the files depends on the server.
   */
  readonly dataFolder: string;
  readonly processId: number | undefined;
  createBucket(name: string): Promise<void>;
  stop(): Promise<void>;
}

export interface S3Server extends S3Endpoint {
  /** A plain file at `<bucket>/<key>` there is an object. */
  readonly dataFolder: string;
  /** The requests that the server answered since the last reset, in order, from its own access log. */
  requests(): Promise<readonly LoggedRequest[]>;
  resetRequests(): Promise<void>;
}

export interface LoggedRequest {
  /** S3's name of the operation, such as `PutObject`. */
  readonly operation: string;
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Percent-encoded, with the bucket. */
  readonly path: string;
  readonly query: string;
  readonly status: number;
}

export interface ServerOptions {
  /** Default: a new folder, in memory where there is room. It is removed when the server stops. */
  readonly dataFolder?: string;
  /** Default: a new key. Two servers with the same key can be reached with one environment. */
  readonly secretAccessKey?: string;
}

export interface VersitygwOptions extends ServerOptions {
  readonly port?: number;
  readonly region?: string;
  /** Buckets can keep versions. */
  readonly keepsVersions?: boolean;
}

const BUCKET = 'dray-test';

export async function startVersitygw(options: VersitygwOptions = {}): Promise<S3Server> {
  const path = await toolPath('versitygw');
  const home = await mkdtemp(join(await roomyFolder(), 'dray-versitygw-'));
  const dataFolder = options.dataFolder ?? join(home, 'data');
  await mkdir(dataFolder, { recursive: true });
  const logFile = join(home, 'access.log');
  const port = options.port ?? (await freePort());
  const endpoint = `http://127.0.0.1:${port}`;
  const region = options.region ?? 'us-east-1';
  const accessKeyId = 'dray-test-access';
  const secretAccessKey = options.secretAccessKey ?? randomBytes(16).toString('hex');
  const args = [
    '--port',
    `127.0.0.1:${port}`,
    '--region',
    region,
    '--keep-alive',
    '--quiet',
    '--access-log',
    logFile,
  ];
  const versions = join(home, 'versions');
  if (options.keepsVersions) await mkdir(versions);
  const backend = options.keepsVersions ? ['posix', '--versioning-dir', versions] : ['posix'];
  const running = startProcess(path, [...args, ...backend, dataFolder], {
    PATH: process.env.PATH,
    ROOT_ACCESS_KEY_ID: accessKeyId,
    ROOT_SECRET_ACCESS_KEY: secretAccessKey,
  });
  const environment = createS3Environment({ endpoint, region, accessKeyId, secretAccessKey, home });
  const stop = async () => {
    await running.stop();
    await rm(home, { recursive: true, force: true });
  };
  const createBucket = (bucket: string) => createBucketAt({ bucket, environment });
  try {
    await waitUntilReady(running, async () => (await fetch(endpoint)).status > 0);
    await createBucket(BUCKET);
  } catch (error) {
    await stop();
    throw error;
  }
  // The server only appends. A log of millions of requests would take the room of the data and be too long to
  // read.
  const resetRequests = () => truncate(logFile);
  await resetRequests();
  return {
    endpoint,
    accessKeyId,
    secretAccessKey,
    region,
    bucket: BUCKET,
    dataFolder,
    processId: running.processId,
    environment,
    createBucket,
    requests: () => readAccessLog(logFile),
    resetRequests,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** versitygw needs buckets to be created through its API: a plain folder has no owner. */
export async function createBucketAt(options: {
  readonly bucket: string;
  readonly environment: Readonly<Record<string, string>>;
}): Promise<void> {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } =
    options.environment;
  const connection: S3Connection = {
    place: resolvePlace({ ...options, prefix: '' }, { name: 'default', settings: {} }),
    credentials: async () => ({ accessKeyId, secretAccessKey }),
    maxConnections: 1,
    clockOffsetMs: 0,
  };
  const client = createS3Sender(connection);
  try {
    const call = { operation: 'CreateBucket' };
    const answer = await client.exchange(
      { call, method: 'PUT', payloadHash: 'UNSIGNED-PAYLOAD', signal: undefined },
      0,
    );
    const code = answer.failure?.code;
    if (answer.failure && code !== 'BucketAlreadyOwnedByYou') {
      throw new Error(`The bucket ${options.bucket} was not made: HTTP ${answer.failure.status} ${code}.`);
    }
  } finally {
    await client.close();
  }
}

/**
 * One request a line, in the format of S3's server access logs. The key may have spaces, the URI after it may
 * not.
 */
const LOG_LINE = / s3_(\w+) .*? (\/\S*) (\d{3}) \S+ \S+ \S+ \d+ \d+ /;

const METHODS: readonly (readonly [RegExp, LoggedRequest['method']])[] = [
  [
    /^(DeleteObjects|CreateMultipartUpload|CompleteMultipartUpload|RestoreObject|SelectObjectContent)$/,
    'POST',
  ],
  [/^(Put|Create|Upload|Copy)/, 'PUT'],
  [/^Head/, 'HEAD'],
  [/^(Get|List)/, 'GET'],
  [/^(Delete|Abort)/, 'DELETE'],
];

function parseAccessLine(line: string): LoggedRequest | undefined {
  const found = LOG_LINE.exec(line);
  if (!found) return undefined;
  const [, operation = '', uri = '', status = ''] = found;
  const method = METHODS.find(([pattern]) => pattern.test(operation))?.[1];
  if (!method) throw new Error(`An operation of the access log is unknown: ${line}`);
  const [path = '', query = ''] = uri.split('?');
  return { operation, method, path, query, status: Number(status) };
}

/** Reads line by line, because the log of millions of requests exceeds the length of a string. */
async function readAccessLog(file: string): Promise<readonly LoggedRequest[]> {
  const requests: LoggedRequest[] = [];
  const log = await open(file);
  try {
    for await (const line of log.readLines()) {
      const request = parseAccessLine(line);
      if (request) requests.push(request);
    }
  } finally {
    await log.close();
  }
  return requests;
}
