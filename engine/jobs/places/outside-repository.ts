/** A copy of a version must not be written to the repository that it is read from. */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { nestingOf } from '../../files/scan/folder-nesting.ts';
import { type Place, placeIdentity, realPathOf } from './places.ts';

/** @throws `usage` if the destination is the repository of the source's version, or lies in it */
export function checkOutsideRepository(
  source: Place,
  destination: Place,
  environment: JobContext['environment'],
): void {
  if (source.kind !== 'remote' || source.url.kind !== 'version') return;
  const { repository } = source.url;
  if (repository.kind === 'file') {
    if (destination.kind !== 'local') return;
    const nesting = nestingOf(realPathOf(destination.path), realPathOf(repository.path));
    if (nesting === 'same' || nesting === 'firstInside') throw inRepository(source, destination);
    return;
  }
  const [inner, outer] = [destination, { ...source, url: repository }].map((place) =>
    placeIdentity(place, environment).replace(/\/*$/, '/'),
  );
  if (inner!.startsWith(outer!)) throw inRepository(source, destination);
}

function inRepository(source: Place, destination: Place): DrayError {
  return new DrayError(
    'usage',
    `${destination.text} lies in the repository of ${source.text}, whose objects it could overwrite.`,
    { data: { path: destination.text }, advice: 'Choose a place outside of it.' },
  );
}
