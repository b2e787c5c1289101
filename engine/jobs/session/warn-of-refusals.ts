/** Says once in a run how many modes and times a disk did not take. */
import type { JobContext } from '../../api/jobs/jobs.ts';
import { countRefusals, type DiskRefusals } from '../../files/disk/disk-refusals.ts';

/** @param place Where the files are, for the message. */
export function warnOfRefusals(context: JobContext, refusals: DiskRefusals | undefined, place: string): void {
  if (!refusals) return;
  const { modes, times } = countRefusals(refusals);
  if (modes === 0 && times === 0) return;
  const counts = [`${modes} modes`, `${times} times`].filter((text) => !text.startsWith('0 '));
  const message = `The disk of ${place} refused ${counts.join(' and ')} of files and folders. Their content is there.`;
  context.emit({ type: 'warning', warning: 'attributesRefused', message });
}
