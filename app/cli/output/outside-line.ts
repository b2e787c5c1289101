import type { OutsideFiles } from '../../../engine/api/jobs/workspace-scope.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { quotePath } from './terminal-text.ts';

const NAMED_MAX = 3;

export function formatOutside({ count, paths }: OutsideFiles): string {
  const named = paths.slice(0, NAMED_MAX).map(quotePath).join(', ');
  const more = count > NAMED_MAX ? ' and more' : '';
  const verb = count === 1 ? 'is' : 'are';
  return `${formatPlural(count, 'file')} here ${verb} outside of that, and never pushed: ${named}${more}.`;
}
