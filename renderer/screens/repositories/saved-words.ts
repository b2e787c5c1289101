import type { RepositoryGarbage } from '../../../engine/api/host/repositories.ts';
import { formatDollars } from '../../../engine/api/text/numbers.ts';

/** What the removal of the garbage saves, after its size. Empty for nothing and for unknown prices. */
export function savedWords({ savedDollarsPerMonth = 0 }: RepositoryGarbage): string {
  return savedDollarsPerMonth === 0 ? '' : `, saves ${formatDollars(savedDollarsPerMonth)} a month`;
}
