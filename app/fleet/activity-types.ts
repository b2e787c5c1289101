/** The activities, as the workflows call them. Each calls one step of the engine. */
import type {
  CutRequest,
  CutResult,
  DeletesVerdict,
  FinishRequest,
  FleetCounts,
  FleetPlan,
  FleetWork,
  LargeBegun,
  LargePiecesRequest,
  LargeRequest,
  PartRequest,
  PublishResult,
  RunPartRequest,
} from '../../engine/api/jobs/fleet.ts';

export interface FleetActivities {
  planRanges(work: FleetWork): Promise<FleetPlan>;
  cutRange(work: FleetWork, request: CutRequest): Promise<CutResult>;
  runPart(work: FleetWork, request: RunPartRequest): Promise<FleetCounts>;
  retryFailed(
    work: FleetWork,
    request: PartRequest,
  ): Promise<{ readonly retried: number; readonly counts: FleetCounts }>;
  beginLarge(work: FleetWork, request: LargeRequest): Promise<LargeBegun>;
  moveLargePieces(work: FleetWork, request: LargePiecesRequest): Promise<FleetCounts>;
  endLarge(work: FleetWork, request: LargeRequest): Promise<FleetCounts>;
  approveDeletes(work: FleetWork, counts: FleetCounts): Promise<DeletesVerdict>;
  finish(work: FleetWork, request: FinishRequest): Promise<PublishResult>;
}
