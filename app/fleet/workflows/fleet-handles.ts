/** The signals and queries of both workflows. */
import { defineQuery, defineSignal } from '@temporalio/workflow';
import {
  type FleetLimits,
  type JobStatus,
  QUERIES,
  type RangeStatus,
  type Share,
  SIGNALS,
} from '../fleet-messages.ts';

export const pauseSignal = defineSignal(SIGNALS.pause);
export const resumeSignal = defineSignal(SIGNALS.resume);
export const retryFailedSignal = defineSignal(SIGNALS.retryFailed);
export const setLimitsSignal = defineSignal<[FleetLimits]>(SIGNALS.setLimits);
/** Sent by a worker whose store asked for fewer requests. */
export const slowDownSignal = defineSignal(SIGNALS.slowDown);
export const jobStatusQuery = defineQuery<JobStatus>(QUERIES.status);
export const rangeStatusQuery = defineQuery<RangeStatus>(QUERIES.status);
export const shareQuery = defineQuery<Share>(QUERIES.share);
