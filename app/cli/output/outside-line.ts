import type { OutsideFiles } from '../../../engine/api/jobs/workspace-scope.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { quotePath } from './terminal-text.ts';

const NAMED_MAX = 3;

export function formatOutside({ count, paths }: OutsideFiles): string {
  const named = paths.slice(0, NAMED_MAX).map(quotePath).join(', ');
  const more = count > NAMED_MAX ? ' and more' : '';
  const [verb, object] = count === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${formatPlural(count, 'file')} here ${verb} outside of that, and no push sends ${object}: ${named}${more}.`;
}
