/** One call through the AWS SDK: sent once, its outcome in the terms of `s3-errors.ts`. */
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { checkAborted } from '../../../base/abort.ts';
import { CONNECT_TIMEOUT_MS, QUIET_TIMEOUT_MS } from '../../http/http-exchange.ts';
import { type S3Call, type S3Failure, translateFailure, translateThrown } from '../answers/s3-errors.ts';
import { moveTo, type S3Connection } from '../s3-connection.ts';
import { endpointOf, type S3Place } from '../s3-options.ts';

export type SdkModule = typeof import('@aws-sdk/client-s3');

/** What the SDK's commands have in common, as far as it takes to tell their outputs apart. */
type AnyCommand = { resolveMiddleware(...args: never[]): (...args: never[]) => Promise<{ output: object }> };
export type OutputOf<Command extends AnyCommand> = Awaited<
  ReturnType<ReturnType<Command['resolveMiddleware']>>
>['output'];

export type SdkOutcome<Output> =
  | { readonly output: Output; readonly remoteTimeMs: number | undefined; readonly failure?: never }
  | { readonly failure: S3Failure };

export interface SdkCaller {
  readonly connection: S3Connection;
  readonly module: SdkModule;
  /** Bucket and full key, as most commands want them. */
  object(key: string): { readonly Bucket: string; readonly Key: string };
  /** An answer of the store that is no success comes back as `failure`. Network trouble throws. */
  attempt<Command extends AnyCommand>(
    call: S3Call,
    command: Command,
    signal: AbortSignal | undefined,
  ): Promise<SdkOutcome<OutputOf<Command>>>;
  /** The same, with failures thrown as DrayErrors. */
  send<Command extends AnyCommand>(
    call: S3Call,
    command: Command,
    signal: AbortSignal | undefined,
  ): Promise<OutputOf<Command>>;
  /** The SDK's client for code that brings its own commands; throws the SDK's errors. Follows the bucket's region. */
  sendRaw<Command extends AnyCommand>(
    command: Command,
    signal: AbortSignal | undefined,
  ): Promise<OutputOf<Command>>;
  client(): S3Client;
  close(): void;
}

export async function createSdkCaller(connection: S3Connection): Promise<SdkCaller> {
  const module = await import('@aws-sdk/client-s3');
  let current: { readonly place: S3Place; readonly client: S3Client } | undefined;
  /** What was sent before the store named another region may be under way still. */
  let former: S3Client | undefined;
  const remoteTimes = new WeakMap<object, number>();

  const client = (): S3Client => {
    if (current?.place !== connection.place) {
      former?.destroy();
      former = current?.client;
      current = { place: connection.place, client: createClient(module, connection, remoteTimes) };
    }
    return current.client;
  };

  const sendRaw: SdkCaller['sendRaw'] = async (command, signal) => {
    const options = signal ? { abortSignal: signal } : {};
    const sendOnce = () => client().send(command as never, options) as Promise<never>;
    checkAborted(signal);
    const asked = connection.place;
    try {
      return await sendOnce();
    } catch (error) {
      const failure = failureOfSdk(error, connection);
      if (failure && moveTo(connection, failure, asked)) return await sendOnce();
      throw error;
    }
  };

  const attempt: SdkCaller['attempt'] = async (call, command, signal) => {
    try {
      const output = await sendRaw(command, signal);
      return { output, remoteTimeMs: remoteTimes.get(output) };
    } catch (error) {
      const failure = failureOfSdk(error, connection);
      if (failure && !signal?.aborted) return { failure };
      throw translateThrown(error, call, connection.place, signal);
    }
  };

  return {
    connection,
    module,
    object: (key) => ({ Bucket: connection.place.bucket, Key: connection.place.keyPrefix + key }),
    attempt,
    send: async (call, command, signal) => {
      const outcome = await attempt(call, command, signal);
      if (outcome.failure) throw translateFailure(outcome.failure, call, connection.place);
      return outcome.output;
    },
    sendRaw,
    client,
    close: () => {
      former?.destroy();
      current?.client.destroy();
      current = undefined;
    },
  };
}

export function callOf(sdk: SdkCaller, operation: string, key?: string): S3Call {
  return { operation, key: key === undefined ? undefined : sdk.connection.place.keyPrefix + key };
}

/** An SDK error that is an answer of the store. Undefined for all others, such as a broken connection. */
export function failureOfSdk(error: unknown, connection: S3Connection): S3Failure | undefined {
  const { $metadata, $response, name, message, Region } = (error ?? {}) as SdkError;
  if ($metadata?.httpStatusCode === undefined) return undefined;
  const headers = $response?.headers ?? {};
  const remoteTimeMs = Date.parse(headers.date ?? '');
  const retryAfterSeconds = Number(headers['retry-after']);
  // An answer without a code leaves the SDK to make a name up.
  const hasCode = name !== undefined && !/^(unknown(error)?|\d+|error|notfound)$/i.test(name);
  return {
    status: $metadata.httpStatusCode,
    code: hasCode ? name : undefined,
    message: message && !/^unknown(error)?$/i.test(message) ? message : undefined,
    remoteTimeMs: Number.isNaN(remoteTimeMs) ? undefined : remoteTimeMs,
    signedTimeMs: Date.now() + connection.clockOffsetMs,
    region: headers['x-amz-bucket-region'] ?? Region,
    retryAfterMs: retryAfterSeconds > 0 ? retryAfterSeconds * 1000 : undefined,
  };
}

interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly Region?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string | undefined>> };
}

/** One that signs nothing in place of the SDK's own signer; keys are given all the same, or it would look for some. */
const ANONYMOUS: Pick<S3ClientConfig, 'credentials' | 'signer'> = {
  credentials: { accessKeyId: 'anonymous', secretAccessKey: '' },
  signer: { sign: async (request) => request },
};

function createClient(
  module: SdkModule,
  connection: S3Connection,
  remoteTimes: WeakMap<object, number>,
): S3Client {
  const { authorities, place, maxConnections } = connection;
  const client = new module.S3Client({
    endpoint: endpointOf(place).href,
    region: place.region,
    forcePathStyle: place.pathStyle,
    ...(place.isAnonymous ? ANONYMOUS : { credentials: connection.credentials }),
    // One wrapper retries (`remotes/`), and callers say which checksums they want.
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    systemClockOffset: connection.clockOffsetMs,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: QUIET_TIMEOUT_MS,
      httpAgent: { maxSockets: maxConnections },
      httpsAgent: { maxSockets: maxConnections, ...(authorities === undefined ? {} : { ca: authorities }) },
    },
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { headers?: Record<string, string | undefined> };
      const timeMs = Date.parse(headers?.date ?? '');
      if (result.output && !Number.isNaN(timeMs)) remoteTimes.set(result.output, timeMs);
      return result;
    },
    { step: 'deserialize', priority: 'high', name: 'keepRemoteTime' },
  );
  return client;
}
