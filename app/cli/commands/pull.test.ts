import { expect, it } from 'vitest';
import { NO_CHANGES } from '../../../engine/jobs/session/no-changes.ts';
import { formatPullEnd } from './pull.ts';

const NO_REQUESTS = {
  reads: 0,
  writes: 0,
  lists: 0,
  deletes: 0,
  total: 0,
  sentBytes: 0,
  receivedBytes: 0,
  dollars: 0,
};
const arriving = { commit: 'b'.repeat(64), missing: 2, command: 'dray switch trial' };
const pulled = (commit: string | null) => ({
  result: 'pulled' as const,
  workspace: '/w',
  branch: 'main',
  commit,
  changes: { ...NO_CHANGES, added: 1, bytes: 5 },
  downloadedBytes: 5,
  decided: 0,
  failed: 2,
  requests: NO_REQUESTS,
  arriving,
});

it('a pull that did not bring everything says of which commit, what is missing, and where the branch stays', () => {
  expect(formatPullEnd(pulled('a'.repeat(64)), 1_000)[0]).toBe(
    'Pulled 1 added, 5 B of bbbbbbbbbb; 2 are missing. Get the rest with "dray switch trial". Until then main stays at aaaaaaaaaa.',
  );
});

it('without a commit before it does not name one', () => {
  expect(formatPullEnd(pulled(null), 1_000)[0]).toBe(
    'Pulled 1 added, 5 B of bbbbbbbbbb; 2 are missing. Get the rest with "dray switch trial".',
  );
});
