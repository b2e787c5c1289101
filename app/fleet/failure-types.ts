/** The type of a failure: a code of the engine's errors, or this one of a worker that was stopped. */
export const WORKER_STOPPED = 'workerStopped';

/**
 * Codes that every other worker would end with too, so the whole job ends. Missing or refused credentials are
 * not among them: another worker may have better ones.
 */
export const FATAL_CODES: ReadonlySet<string> = new Set([
  'bucketMissing',
  'damaged',
  'formatTooNew',
  'unsupported',
  'usage',
]);
