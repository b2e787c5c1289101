/**
 * Translates the errors of S3 and the network, once, into a DrayError that names the thing and the remedy.
 */
import { DrayError, type DrayErrorOptions, type ErrorCode, type RetryAdvice } from '../../../api/error.ts';
import { CONNECTION_REASONS } from '../../http/connection-reasons.ts';
import { AnswerTooLarge } from '../../http/http-message.ts';
import type { PutOptions, PutOutcome } from '../../object-store.ts';
import { endpointOf, type S3Place } from '../s3-options.ts';

/** A failed call in the store's words. It never holds a secret. */
export interface S3Failure {
  readonly status: number;
  /** `<Code>` of the answer. Undefined without a body (HEAD), or when it cannot be read. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** The Date header. */
  readonly remoteTimeMs: number | undefined;
  /** This machine's time in the signature. */
  readonly signedTimeMs: number;
  /** The bucket's region, if the store named it. */
  readonly region?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The call, for the message. */
export interface S3Call {
  readonly operation: string;
  /** In full, with the remote's prefix. Absent for lists. */
  readonly key?: string | undefined;
}

/** Codes that concern the keys, so every other call fails as well. */
const CREDENTIAL_CODES: ReadonlySet<string | undefined> = new Set([
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
  'XAdminUserNotFound',
]);

/** Codes that concern one object, until it is restored from its archive. */
const ARCHIVE_CODES: ReadonlySet<string | undefined> = new Set([
  'InvalidObjectState',
  'ObjectNotInActiveTierError',
]);

/**
 * Stores that keep objects as files cannot have both `a` and `a/b`. These codes say which of the two exists.
 * versitygw answers 409 with the first two, MinIO the others.
 */
const IN_THE_WAY: Readonly<Record<string, 'fileInTheWay' | 'folderInTheWay'>> = {
  ObjectParentIsFile: 'fileInTheWay',
  ExistingObjectIsDirectory: 'folderInTheWay',
  XMinioParentIsObject: 'fileInTheWay',
  XMinioObjectExistsAsDirectory: 'folderInTheWay',
};

/** Amazon refuses signatures whose time is further off. */
const SKEW_ALLOWED_MS = 15 * 60_000;

type Rule = readonly [code: ErrorCode, retry: RetryAdvice];
const RULES: Readonly<Record<string, Rule>> = {
  NoSuchBucket: ['bucketMissing', 'no'],
  NoSuchKey: ['notFound', 'no'],
  NoSuchUpload: ['notFound', 'no'],
  RequestTimeTooSkewed: ['clockSkew', 'no'],
  AccessDenied: ['accessDenied', 'no'],
  AllAccessDisabled: ['accessDenied', 'no'],
  AccountProblem: ['accessDenied', 'no'],
  ExpiredToken: ['accessDenied', 'no'],
  TokenRefreshRequired: ['accessDenied', 'no'],
  InvalidAccessKeyId: ['accessDenied', 'no'],
  // versitygw's code for an unknown access key.
  XAdminUserNotFound: ['accessDenied', 'no'],
  InvalidObjectState: ['accessDenied', 'no'],
  InvalidSecurity: ['accessDenied', 'no'],
  InvalidToken: ['accessDenied', 'no'],
  NotSignedUp: ['accessDenied', 'no'],
  ObjectNotInActiveTierError: ['accessDenied', 'no'],
  SignatureDoesNotMatch: ['accessDenied', 'no'],
  AuthorizationHeaderMalformed: ['accessDenied', 'no'],
  BadDigest: ['checksumRefused', 'retry'],
  InvalidDigest: ['checksumRefused', 'retry'],
  XAmzContentChecksumMismatch: ['checksumRefused', 'retry'],
  XAmzContentSHA256Mismatch: ['checksumRefused', 'retry'],
  InvalidRange: ['damaged', 'no'],
  PreconditionFailed: ['conflict', 'no'],
  ConditionalRequestConflict: ['remoteFailed', 'retry'],
  OperationAborted: ['remoteFailed', 'retry'],
  RequestTimeout: ['unreachable', 'retry'],
  IncompleteBody: ['unreachable', 'retry'],
  SlowDown: ['slowDown', 'backoff'],
  ServiceUnavailable: ['slowDown', 'backoff'],
  TooManyRequests: ['slowDown', 'backoff'],
  RequestLimitExceeded: ['slowDown', 'backoff'],
  ThrottlingException: ['slowDown', 'backoff'],
  InternalError: ['remoteFailed', 'retry'],
  NotImplemented: ['unsupported', 'no'],
  MethodNotAllowed: ['unsupported', 'no'],
  EntityTooLarge: ['unsupported', 'no'],
  InvalidBucketName: ['usage', 'no'],
  KeyTooLongError: ['usage', 'no'],
};

export function translateFailure(failure: S3Failure, call: S3Call, place: S3Place): DrayError {
  const [code, retry] = ruleOf(failure, call);
  const data: Record<string, unknown> = {
    bucket: place.bucket,
    endpoint: endpointOf(place).origin,
    operation: call.operation,
    status: failure.status,
  };
  if (call.key !== undefined) data.key = call.key;
  if (failure.code !== undefined) data.remoteCode = failure.code;
  if (CREDENTIAL_CODES.has(failure.code)) data.reason = 'credentials';
  if (ARCHIVE_CODES.has(failure.code)) data.reason = 'archived';
  const inTheWay = IN_THE_WAY[failure.code ?? ''];
  if (inTheWay) data.reason = inTheWay;
  if (failure.retryAfterMs !== undefined) data.retryAfterMs = failure.retryAfterMs;
  if (code === 'clockSkew') {
    data.localTimeMs = failure.signedTimeMs;
    if (failure.remoteTimeMs !== undefined) data.remoteTimeMs = failure.remoteTimeMs;
  }
  const advice = code === 'accessDenied' ? REFUSAL_ADVICE[failure.code ?? ''] : undefined;
  return new DrayError(code, messageOf(code, failure, call, place), {
    retry,
    data,
    ...(advice ? { advice } : {}),
  });
}

/** The next step at a command line, by the store's code. */
const REFUSAL_ADVICE: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'Check AWS_ACCESS_KEY_ID or the profile.',
  XAdminUserNotFound: 'Check AWS_ACCESS_KEY_ID or the profile.',
  SignatureDoesNotMatch: 'Check AWS_SECRET_ACCESS_KEY or the profile.',
  AuthorizationHeaderMalformed: 'Set the region with --region or AWS_REGION.',
};

const ABSENT: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion', 'NotFound']);

/** The object, or the version, does not exist, and its bucket does. */
export function isAbsentKey({ status, code }: S3Failure): boolean {
  return status === 404 && (code === undefined || ABSENT.has(code));
}

/**
 * A 404 that S3 did not send: S3 names the missing thing in a body, except in the answer to a HEAD.
 * A proxy that cannot reach the store answers so. It says nothing about the object.
 */
export function isStray({ status, code }: S3Failure, { operation }: S3Call): boolean {
  return status === 404 && code === undefined && operation !== 'HEAD';
}

/** The outcome of a write whose condition did not hold; any other failure is thrown. */
export function unwrittenOr(
  failure: S3Failure,
  { condition }: PutOptions,
  call: S3Call,
  place: S3Place,
): PutOutcome {
  // S3 answers 404 to If-Match on a missing object.
  const isGone = condition && 'etag' in condition && isAbsentKey(failure) && !isStray(failure, call);
  const isRefused = failure.status === 412 || failure.code === 'PreconditionFailed' || isGone;
  if (condition !== undefined && isRefused) return { written: false };
  throw translateFailure(failure, call, place);
}

/**
 * The same for the completion of an upload. A refused sum of the whole is not retried: each part came with
 * its own sum, so the same completion fails again.
 */
export function uncompletedOr(
  failure: S3Failure,
  options: PutOptions,
  call: S3Call,
  place: S3Place,
): PutOutcome {
  // When the upload is gone, the condition is unknown.
  if (failure.code === 'NoSuchUpload') throw translateFailure(failure, call, place);
  try {
    return unwrittenOr(failure, options, call, place);
  } catch (error) {
    if (!(error instanceof DrayError) || error.code !== 'checksumRefused') throw error;
    throw new DrayError(error.code, error.message, { data: error.data });
  }
}

function ruleOf(failure: S3Failure, call: S3Call): Rule {
  const { status, code } = failure;
  const isRefusal = status === 403 || status === 401;
  // An answer without a body (HEAD) cannot name a wrong clock, but its Date header shows it.
  if (isRefusal && (code === undefined || code === 'AccessDenied') && isSkewed(failure))
    return ['clockSkew', 'no'];
  const byCode = code !== undefined && Object.hasOwn(RULES, code) ? RULES[code] : undefined;
  if (byCode) return byCode;
  if (isRefusal) return ['accessDenied', 'no'];
  if (isStray(failure, call)) return ['remoteFailed', 'retry'];
  if (status === 404) return ['notFound', 'no'];
  if (status === 405 || status === 501) return ['unsupported', 'no'];
  if (status === 408) return ['unreachable', 'retry'];
  if (status === 412) return ['conflict', 'no'];
  if (status === 416) return ['damaged', 'no'];
  if (status === 429 || status === 503) return ['slowDown', 'backoff'];
  if (status >= 500 && status !== 507) return ['remoteFailed', 'retry'];
  return ['remoteFailed', 'no'];
}

function isSkewed({ remoteTimeMs, signedTimeMs }: S3Failure): boolean {
  return remoteTimeMs !== undefined && Math.abs(remoteTimeMs - signedTimeMs) > SKEW_ALLOWED_MS;
}

function messageOf(code: ErrorCode, failure: S3Failure, call: S3Call, place: S3Place): string {
  const store = `${endpointOf(place).host}`;
  const object = nameOf(call, place);
  const said = saidBy(failure);
  if (isStray(failure, call))
    return `${store} answered ${call.operation} on ${object} with a 404 that does not come from S3. Check the endpoint and any proxy on the way.`;
  switch (code) {
    case 'bucketMissing':
      return `The bucket ${place.bucket} does not exist at ${store}. Check its name and the endpoint, or create it first.`;
    case 'accessDenied':
      return `${store} refused ${call.operation} on ${object}: ${refusalOf(failure, place)}`;
    case 'clockSkew':
      return skewMessage(failure, store);
    case 'notFound':
      return failure.code === 'NoSuchUpload'
        ? `The multipart upload of ${object} no longer exists: it was completed or aborted.`
        : `There is no ${object} at ${store}.`;
    case 'checksumRefused':
      return `${store} received other bytes for ${object} than were announced${said}. They changed on the way, or in the file while it was read.`;
    case 'damaged':
      return `${object} is shorter than expected: ${store} has no bytes at the requested range.`;
    case 'conflict':
      return `${object} was replaced by another writer in the meantime.`;
    case 'slowDown':
      return `${store} asked for fewer requests${said}.`;
    case 'unsupported':
      return `${store} does not support ${call.operation}${said}.`;
    case 'unreachable':
      return `${store} timed out during ${call.operation} on ${object}${said}.`;
    case 'usage':
      return `${store} refused the name ${object}${said}.`;
    default:
      return `${store} failed at ${call.operation} on ${object}${said || ` (HTTP ${failure.status})`}.`;
  }
}

function saidBy({ code, message }: S3Failure): string {
  if (code === undefined) return '';
  return message ? ` (${code}: ${message.replace(/\.$/, '')})` : ` (${code})`;
}

function refusalOf(failure: S3Failure, { isAnonymous }: S3Place): string {
  const blame = isAnonymous
    ? 'The request was sent without keys (anonymous), and the store does not allow that.'
    : 'The keys may lack the permission for it.';
  if (ARCHIVE_CODES.has(failure.code))
    return `it is archived (${failure.code}). Restore it at the store (RestoreObject), then run again.`;
  switch (failure.code) {
    case 'InvalidAccessKeyId':
    case 'XAdminUserNotFound':
      return 'it does not know the access key.';
    case 'SignatureDoesNotMatch':
      return 'the secret key does not match the access key (SignatureDoesNotMatch).';
    case 'ExpiredToken':
    case 'InvalidToken':
      return `the session token is not valid any more (${failure.code}). Sign in again.`;
    case 'AuthorizationHeaderMalformed':
      return `the signature is for another region${saidBy(failure)}.`;
    case undefined:
      return `HTTP ${failure.status}. ${blame}`;
    default:
      return `${failure.code}${failure.message ? `: ${failure.message.replace(/\.$/, '')}` : ''}. ${blame}`;
  }
}

function skewMessage({ remoteTimeMs, signedTimeMs }: S3Failure, store: string): string {
  const here = new Date(signedTimeMs).toISOString();
  if (remoteTimeMs === undefined)
    return `This machine's clock (${here}) and that of ${store} differ too much. Set the clock.`;
  const offMs = signedTimeMs - remoteTimeMs;
  const direction = offMs > 0 ? 'ahead of' : 'behind';
  const there = new Date(remoteTimeMs).toISOString();
  return `This machine's clock is ${durationOf(Math.abs(offMs))} ${direction} that of ${store} (here ${here}, there ${there}). Set the clock.`;
}

function durationOf(spanMs: number): string {
  const minutes = Math.round(spanMs / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

/** Codes of an endpoint whose scheme is wrong: trying again would not help. */
const SCHEME_REASONS: Readonly<Record<string, (endpoint: string) => string>> = {
  HTTP_NO_TLS: (endpoint) =>
    `it does not use TLS. Check its host and port, or write ${endpoint.replace('https:', 'http:')} as the endpoint if you trust the network`,
  HTTP_WANTS_TLS: (endpoint) => `it uses TLS. Write ${endpoint.replace('http:', 'https:')} as the endpoint`,
};

/** Translates anything thrown during a request. A DrayError passes unchanged. */
export function translateThrown(
  error: unknown,
  call: S3Call,
  place: S3Place,
  signal?: AbortSignal,
): DrayError {
  if (error instanceof DrayError) return error;
  if (signal?.aborted || (error instanceof Error && error.name === 'AbortError')) {
    return new DrayError('aborted', 'Stopped on request.', { cause: error });
  }
  if (error instanceof AnswerTooLarge) return tooLarge(error.sizeBytes, call, place);
  const code = systemCodeOf(error);
  const endpoint = endpointOf(place).origin;
  const options: DrayErrorOptions = {
    data: {
      bucket: place.bucket,
      endpoint,
      operation: call.operation,
      ...(code ? { systemCode: code } : {}),
    },
    cause: error,
  };
  if (code && isCertificateCode(code)) {
    return new DrayError('unreachable', `The certificate of ${endpoint} is not trusted (${code}).`, {
      ...options,
      advice: 'Name a file with its authority in AWS_CA_BUNDLE, or check the endpoint.',
    });
  }
  const schemeReason = code && SCHEME_REASONS[code]?.(endpoint);
  if (schemeReason)
    return new DrayError('unreachable', `${endpoint} cannot be reached: ${schemeReason}.`, options);
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
    return new DrayError('internal', `${call.operation} failed: ${error.message}`, options);
  }
  const reason =
    (code && CONNECTION_REASONS[code]) ?? (error instanceof Error ? error.message : String(error));
  const detail = code ? `${reason} (${code})` : reason;
  return new DrayError(
    'unreachable',
    `${endpoint} cannot be reached: ${detail}. Check the endpoint and the network.`,
    {
      ...options,
      retry: 'retry',
    },
  );
}

/** An object too large for its reader, so Dray did not write it. */
export function tooLarge(sizeBytes: number, call: S3Call, place: S3Place): DrayError {
  return new DrayError('damaged', `${nameOf(call, place)} has ${sizeBytes} bytes, more than it should.`, {
    data: { bucket: place.bucket, key: call.key, sizeBytes },
  });
}

export function nameOf(call: S3Call, place: S3Place): string {
  return call.key === undefined ? `the bucket ${place.bucket}` : `s3://${place.bucket}/${call.key}`;
}

/** The first code among the causes. An AggregateError (happy eyeballs) counts by its first error. */
function systemCodeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return undefined;
}

function isCertificateCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code);
}
