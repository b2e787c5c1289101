/**
 * Seldom calls, through the AWS SDK: it writes the request and reads the answer. In between, the request goes
 * the way of every other: `s3-connection.ts` signs and sends it and follows the bucket's region, and
 * `with-retry.ts` alone repeats it. The first call loads the SDK (about 90 ms of CPU), so calls that most
 * runs make do without it.
 */
import type { S3Client } from '@aws-sdk/client-s3';
import { DrayError } from '../../../api/error.ts';
import type { CallOptions } from '../../object-store.ts';
import type { S3Call } from '../answers/s3-errors.ts';
import { type S3Failure, translateFailure, translateThrown } from '../answers/s3-errors.ts';
import type { S3Request } from '../s3-connection.ts';
import { exchangeXml, requestFor, type S3Caller, xmlBody } from './s3-call.ts';

export type SdkModule = typeof import('@aws-sdk/client-s3');

/** The part of the SDK's commands by which TypeScript distinguishes their outputs. */
type AnyCommand = { resolveMiddleware(...args: never[]): (...args: never[]) => Promise<{ output: object }> };
type OutputOf<Command extends AnyCommand> = Awaited<
  ReturnType<ReturnType<Command['resolveMiddleware']>>
>['output'];

export type SdkOutcome<Output> =
  | { readonly output: Output; readonly isMinio: boolean; readonly failure?: never }
  | { readonly failure: S3Failure };

interface SdkRequest {
  readonly method: string;
  readonly query: Readonly<Record<string, string | string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

interface SdkAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Carry = (request: SdkRequest) => Promise<SdkAnswer>;

export interface SeldomCall {
  readonly operation: string;
  /** Without the remote's prefix. Absent for calls about the bucket. */
  readonly key?: string;
  /** The key that errors name. Default: the full `key`. */
  readonly namedKey?: string;
  /** The root element of the answer. Absent where a success has no content. */
  readonly root?: string;
  readonly quietMs?: number;
}

/** Bucket and key of every command: the request gets those of the remote when it is sent. */
export const UNUSED_PLACE = { Bucket: 'bucket', Key: 'key' } as const;

/** An error answer of the store comes back as `failure`. Network trouble throws a DrayError. */
export async function attemptBySdk<Command extends AnyCommand>(
  caller: S3Caller,
  seldom: SeldomCall,
  commandOf: (module: SdkModule) => Command,
  options: CallOptions,
): Promise<SdkOutcome<OutputOf<Command>>> {
  const { client, module } = await loadSdk();
  let failure: S3Failure | undefined;
  let isMinio = false;
  const call = callOf(caller, seldom);
  const carry: Carry = async (sdkRequest) => {
    const answer = await exchangeXml(caller, requestOf(caller, seldom, sdkRequest, options), seldom.root);
    if (answer.failure) {
      failure = answer.failure;
      throw new Error('The store answered with an error.');
    }
    isMinio = answer.isMinio;
    return { statusCode: 200, headers: {}, body: new TextEncoder().encode(answer.xml) };
  };
  try {
    const output = await client.send(commandOf(module) as never, { carry } as object);
    return { output: output as OutputOf<Command>, isMinio };
  } catch (error) {
    if (failure) return { failure };
    if (error instanceof DrayError) throw error;
    throw translateThrown(error, call, caller.connection.place, options.signal);
  }
}

/** The same, with the store's errors thrown as DrayErrors. */
export async function sendBySdk<Command extends AnyCommand>(
  caller: S3Caller,
  seldom: SeldomCall,
  commandOf: (module: SdkModule) => Command,
  options: CallOptions,
): Promise<OutputOf<Command>> {
  const outcome = await attemptBySdk(caller, seldom, commandOf, options);
  if (outcome.failure)
    throw translateFailure(outcome.failure, callOf(caller, seldom), caller.connection.place);
  return outcome.output;
}

function callOf({ connection }: S3Caller, { key, namedKey, operation }: SeldomCall): S3Call {
  const named = namedKey ?? (key === undefined ? undefined : connection.place.keyPrefix + key);
  return { operation, key: named };
}

/** The SDK's own headers stay behind: some S3-compatible stores refuse the checksums among them. */
const KEPT_HEADERS = /^(content-type|x-amz-(?!checksum|content-sha256|sdk|user-agent).*)$/;

function requestOf(
  caller: S3Caller,
  seldom: SeldomCall,
  { body, headers, method, query }: SdkRequest,
  options: CallOptions,
): S3Request {
  const { quietMs } = seldom;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const queried = Object.entries(query).filter(([name]) => name !== 'x-id');
  const kept = Object.entries(headers).filter(([name]) => KEPT_HEADERS.test(name));
  const sentAs = { ...seldom, method: method as S3Request['method'] };
  return {
    ...requestFor(caller.connection, sentAs, options),
    call: callOf(caller, seldom),
    query: Object.fromEntries(queried.map(([name, value]) => [name, String(value ?? '')]).sort(byName)),
    headers: Object.fromEntries(kept),
    ...(bytes ? xmlBody(bytes) : {}),
    ...(quietMs === undefined ? {} : { quietMs }),
  };
}

/** The signature needs the query's names in order. */
function byName([left = '']: string[], [right = '']: string[]): number {
  return left < right ? -1 : 1;
}

interface LoadedSdk {
  readonly module: SdkModule;
  readonly client: S3Client;
}

let loaded: Promise<LoadedSdk> | undefined;

/**
 * One client for all remotes: it writes and reads, and has neither place, keys nor connections of its own.
 */
export function loadSdk(): Promise<LoadedSdk> {
  loaded ??= import('@aws-sdk/client-s3').then((module) => ({ module, client: createClient(module) }));
  return loaded;
}

function createClient(module: SdkModule): S3Client {
  return new module.S3Client({
    endpoint: 'http://localhost',
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'unused', secretAccessKey: '' },
    signer: { sign: async (request) => request },
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      handle: async (request: SdkRequest, { carry }: { readonly carry: Carry }) => ({
        response: await carry(request),
      }),
    },
  });
}
