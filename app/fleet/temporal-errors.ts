/** Translates what Temporal's client throws into the one error of Dray. */
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  isGrpcServiceError,
  ServiceError,
  WorkflowFailedError,
} from '@temporalio/client';
import { NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { DrayError, ERROR_CODES, type ErrorCode, toDrayError } from '../../engine/api/error.ts';
import { PAYLOAD_ENCODING } from './payload-codec.ts';
import type { TemporalOptions } from './temporal-options.ts';

/** gRPC's numbers. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  4: 'unreachable',
  5: 'notFound',
  7: 'accessDenied',
  14: 'unreachable',
  16: 'accessDenied',
};

/** @param id The job that the call was about, for messages. */
export function fromTemporal(
  error: unknown,
  { address, namespace }: TemporalOptions,
  id?: string,
): DrayError {
  if (error instanceof DrayError) return error;
  // The worker's connection has no class for it.
  const isNoNamespace = error instanceof Error && /^Namespace \S+ was not found/.test(error.message);
  if (error instanceof NamespaceNotFoundError || isNoNamespace)
    return new DrayError('notFound', `Temporal at ${address} has no namespace "${namespace}".`, {
      cause: error,
    });
  if (error instanceof Error && error.message.includes(PAYLOAD_ENCODING))
    return new DrayError('usage', 'The job is encrypted. Give the file with its key: --payload-key.', {
      cause: error,
    });
  if (error instanceof WorkflowNotFoundError) return noSuchJob(address, id, error);
  if (error instanceof WorkflowFailedError) return ofEnd(error, id);
  const service = error instanceof ServiceError ? error.cause : error;
  const isLost =
    error instanceof Error &&
    (error.name === 'TransportError' || /connect|ECONNREFUSED|transport error/i.test(error.message));
  if (!isGrpcServiceError(service) && !isLost) return toDrayError(error);
  const code = isGrpcServiceError(service) ? (CODES[service.code] ?? 'remoteFailed') : 'unreachable';
  const why = isGrpcServiceError(service) ? service.details : (error as Error).message;
  return code === 'unreachable'
    ? noAnswer(address, why || 'no connection', error)
    : new DrayError(code, `Temporal at ${address} refused: ${why}.`, { cause: error });
}

export function noSuchJob(address: string, id = '', cause?: unknown): DrayError {
  return new DrayError('notFound', `Temporal at ${address} has no running fleet job ${id}.`, {
    cause,
    advice: 'List the jobs: dray fleet list',
    command: 'dray fleet list',
  });
}

/** How gRPC ends a question that no worker answers: cancelled, too late, or without a worker in the queue. */
const UNANSWERED: readonly number[] = [1, 4, 9];

/** The error of a question to the workers. */
export function withoutWorker(error: unknown, id: string): unknown {
  const service = error instanceof ServiceError ? error.cause : error;
  if (!isGrpcServiceError(service) || !UNANSWERED.includes(service.code)) return error;
  return new DrayError('unreachable', `No worker answers for the job ${id}.`, {
    cause: error,
    advice: 'Start one: dray fleet worker',
    command: 'dray fleet worker',
  });
}

export function noAnswer(address: string, why: string, cause: unknown): DrayError {
  return new DrayError('unreachable', `Temporal at ${address} does not answer: ${why}.`, {
    cause,
    advice:
      'Check the address: --temporal, or TEMPORAL_ADDRESS. To try it on this machine, start one: temporal server start-dev',
    command: 'temporal server start-dev',
  });
}

/** Waiting does not mend it. */
export function noTls(address: string, cause: unknown): DrayError {
  return new DrayError('usage', `Temporal at ${address} does not use TLS.`, {
    cause,
    advice: 'Leave out --tls, the other --tls options, and --api-key-file.',
  });
}

/** A job that ended with a failure. */
function ofEnd(error: WorkflowFailedError, id = ''): DrayError {
  let { cause }: { cause?: unknown } = error;
  while (cause instanceof ActivityFailure || cause instanceof ChildWorkflowFailure) cause = cause.cause;
  if (!(cause instanceof ApplicationFailure))
    return new DrayError('aborted', `The fleet's job ${id} was terminated.`, { cause: error });
  const code = ERROR_CODES.find((known) => known === cause.type) ?? 'internal';
  return new DrayError(code, `The fleet's job ${id} ended: ${cause.message}`, { cause: error });
}
