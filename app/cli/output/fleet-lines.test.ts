import { describe, expect, it } from 'vitest';
import { NO_FLEET_COUNTS } from '../../../engine/api/jobs/fleet.ts';
import type { FleetEndSummary } from '../../fleet/follow-job.ts';
import { formatFleetEnd } from './fleet-lines.ts';

const end: Omit<FleetEndSummary, 'kind'> = {
  ...{ id: 'j', source: 's3://a/', destination: 's3://b/', result: 'stopped' },
  ...{ ranges: 1, parts: 0, failedParts: 0, failed: 0, counts: NO_FLEET_COUNTS },
};

describe('The end of a cancelled job', () => {
  it.each([
    ['copy', 'Copied 0 files (0 B) to s3://b/. The job was cancelled.'],
    ['check', 'No differences so far in 0 files at s3://b/. The job was cancelled.'],
    ['verify', 'Nothing is missing so far at s3://b/: 0 commits, 0 files, 0 objects. The job was cancelled.'],
  ] as const)('claims nothing of the rest of a %s', (kind, line) => {
    expect(formatFleetEnd({ ...end, kind }, 1_000)[0]).toBe(line);
  });
});
