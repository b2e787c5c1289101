/** The first step, on the user's machine: checks the request and stores it for the workers. */
import { isDeepStrictEqual } from 'node:util';
import { DrayError } from '../../api/error.ts';
import { type FleetRequest, type FleetWork, WORKER_NAME } from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { PlaceRequest } from '../../api/jobs/trees.ts';
import { readVersion } from '../../base/dray-version.ts';
import { createTreeFilter } from '../../model/tree-filter.ts';
import { resolveLocation } from '../../remotes/open-remote.ts';
import { formatRemoteUrl, parseRemoteUrl } from '../../remotes/remote-url.ts';
import { readDescriptor } from '../../repository/descriptor.ts';
import { checkApart, parsePlace, type RemotePlace } from '../places/places.ts';
import { refuseRepositoryAbove } from '../places/repository-guard.ts';
import { userAuthor } from '../push/author.ts';
import { notARepository } from '../session/link-repository.ts';
import { openRemoteAt } from '../session/opened-remote.ts';
import { deletionPermission } from '../trees/tree-guard.ts';
import { type FleetJob, findFleetJob, openFleetFolder, writeFleetJob } from './fleet-folder.ts';
import { checkSource } from './plan/plan-ranges.ts';
import { preparePush } from './push/prepare-push.ts';

/**
 * @throws `usage` for places that workers do not share, and for an id that another job has; `notFound` when
 * there is nothing at the source
 */
export async function beginFleet(context: JobContext, id: string, request: FleetRequest): Promise<FleetWork> {
  const [from, to] = [sharedPlace(context, request.source), sharedPlace(context, request.destination)];
  if (request.kind === 'verify') await checkRepository(context, from);
  else if (request.workers) checkWorkers(request.workers);
  else checkApart(from, to, context.environment);
  checkFilter(request);
  if (request.kind === 'copy' || request.kind === 'sync')
    await refuseRepositoryAbove(context, to, {
      allowed: deletionPermission(request),
      isFolder: true,
      meters: [],
    });
  const { destination: _to, source: _from, ...asked } = request;
  const options = request.kind === 'push' ? { author: userAuthor(context), ...asked } : asked;
  const stored: FleetJob = JSON.parse(
    JSON.stringify({
      fleet: 1,
      dray: readVersion(),
      id,
      request: { ...options, source: { place: urlOf(from) }, destination: { place: urlOf(to) } },
    }),
  );
  // A worker would find it out too, and could only say so on its own machine.
  if (request.kind !== 'verify' && !request.workers) await checkSource(context, stored.request);
  if (request.kind === 'push') await preparePush(context, urlOf(to), request);
  const work = { id, destination: urlOf(to) };
  const folder = await openFleetFolder(context, work);
  try {
    const digest = (await findFleetJob(folder)) ? undefined : await writeFleetJob(folder, stored);
    if (digest !== undefined) return { ...work, digest };
    const found = await findFleetJob(folder);
    if (found && isDeepStrictEqual(found.job.request, stored.request))
      return { ...work, digest: found.digest };
    throw new DrayError('usage', `${to.text} already holds a different job ${id}. Choose another id.`);
  } finally {
    await folder.close();
  }
}

/** A bucket or a prefix; both are the root of a tree. */
function sharedPlace(context: JobContext, request: PlaceRequest): RemotePlace {
  const place = parsePlace(context, request);
  if (place.kind === 'remote' && place.url.kind === 's3') return place;
  const why =
    place.kind === 'local'
      ? 'is a folder of this machine, which the workers of a fleet do not share'
      : place.kind === 'remote'
        ? 'is a folder behind one machine, which a fleet cannot make faster'
        : 'is a stream of this process';
  throw new DrayError('usage', `${place.text} ${why}. Name two buckets.`, {
    advice: 'For other places, use "dray copy", "dray sync" or "dray check".',
  });
}

const WORKERS_MAX = 1_000;

/** @throws `usage` */
function checkWorkers(workers: readonly string[]): void {
  const refuse = (message: string) => {
    throw new DrayError('usage', message, { advice: 'Give --workers the names, such as "a,b,c".' });
  };
  const bad = workers.find((name) => !WORKER_NAME.test(name));
  if (bad !== undefined)
    refuse(`"${bad}" cannot be the name of a worker: use up to 63 letters, digits, dots, dashes.`);
  const twice = workers.find((name, at) => workers.indexOf(name) !== at);
  if (twice !== undefined) refuse(`The worker "${twice}" is named twice.`);
  if (workers.length === 0) refuse('No worker is named.');
  if (workers.length > WORKERS_MAX) refuse(`${workers.length} workers are more than ${WORKERS_MAX}.`);
}

/** @throws `notARepository` */
async function checkRepository(context: JobContext, place: RemotePlace): Promise<void> {
  const { store } = await openRemoteAt(context, parseRemoteUrl(urlOf(place), context.directory));
  try {
    if (!(await readDescriptor(store, { signal: context.signal })))
      throw notARepository(store, { isUnmet: true });
  } finally {
    await store.close();
  }
}

function checkFilter({ filter = {} }: FleetRequest): void {
  createTreeFilter(filter);
  if (!filter.filesFrom) return;
  throw new DrayError('usage', 'A fleet lists its source itself, so it cannot take a list of files.', {
    advice: 'Leave out --files-from.',
  });
}

/** The URL with the flags about the place. It ends in a slash, so it always means a folder. */
function urlOf({ connection, url }: RemotePlace): string {
  if (url.kind !== 's3') throw new Error('unreachable');
  const text = formatRemoteUrl({ ...url, ...resolveLocation(url, connection) });
  const at = text.indexOf('?');
  return at < 0 ? `${text}/` : `${text.slice(0, at)}/${text.slice(at)}`;
}
