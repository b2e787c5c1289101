import { describe, expect, it } from 'vitest';
import type { SavedJobCard, SavedJobList } from '../host/saved.ts';
import { findJobEndings } from './job-endings.ts';

const FAILED: SavedJobCard = {
  ...{ name: 'night', version: '1', arguments: ['push'], places: [], directory: '/', triggers: [] },
  ...{ state: 'idle', lastRun: '2026-01-02T03:04:05.000Z', lastResult: 'failed', lastMessage: 'No disk.' },
};

function listOf(...jobs: readonly SavedJobCard[]): SavedJobList {
  return { jobs, problems: [], startedBy: 'here' };
}

describe('findJobEndings', () => {
  it('does not report the last run of a job again after the job was renamed', () => {
    const renamed = { ...FAILED, name: 'nightly' };
    expect(findJobEndings(listOf(FAILED), listOf(renamed), 0)).toEqual([]);
  });

  it('reports a failed run of a job that appears beside the others', () => {
    const other = { ...FAILED, name: 'nightly' };
    const [ending] = findJobEndings(listOf(FAILED), listOf(FAILED, other), 0);
    expect(ending).toEqual({ title: 'Job failed: nightly', body: 'No disk.' });
  });
});
