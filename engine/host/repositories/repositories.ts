/** The requests of the overview of repositories: list saved records, refresh them, measure stored sizes. */
import { homedir } from 'node:os';
import { DrayError, type ErrorRecord, toErrorRecord } from '../../api/error.ts';
import type { RepositoryCard, RepositoryCost } from '../../api/host/repositories.ts';
import type { UpgradeRequest } from '../../api/jobs/repositories.ts';
import { Budget } from '../../base/budget.ts';
import { readVerified, type VerifyRecord } from '../../jobs/history/last-verified.ts';
import { hasKnownPrices, storageDollarsFor } from '../../model/prices.ts';
import { formatRemoteUrl } from '../../remotes/remote-url.ts';
import type { HostState } from '../host-state.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { findGarbage, workspaceOf } from './garbage.ts';
import { findKnownPlaces, type KnownPlace } from './known-places.ts';
import { measureRepository } from './measure-repository.ts';
import { refreshRepository } from './refresh-repository.ts';
import { openRepositoryFile, type RepositoryRecord } from './repository-file.ts';
import { RETENTION } from './retention.ts';

/** The older commits that a refresh reads by default. */
const COMMITS_PER_REFRESH = 100;
const REFRESHES_AT_ONCE = 6;

export const REPOSITORIES: HandlersOf<'repositories'> = {
  'repositories.list': async (_input, { host }) => {
    const cards = cardMaker(host);
    const records = openRepositoryFile(host).read();
    return {
      repositories: [...findKnownPlaces(host).values()].map((place) => cards(place, records.get(place.id))),
    };
  },
  'repositories.look': async ({ commits = COMMITS_PER_REFRESH, ids }, call) => {
    const places = [...findKnownPlaces(call.host).values()].filter(({ id }) => ids?.includes(id) ?? true);
    const room = new Budget(REFRESHES_AT_ONCE);
    const refreshes = places.map(async (place) => {
      using _permit = await room.acquire(1, call.signal);
      return await refresh(call, place, commits);
    });
    return { repositories: await Promise.all(refreshes) };
  },
  'repositories.measure': async ({ id }, call) => {
    const { host } = call;
    const place = findPlace(host, id);
    const size = await measureRepository(jobContextOf(call, homedir()), place);
    const stored = { at: new Date(host.clock.nowMs()).toISOString(), ...size };
    const record = await openRepositoryFile(host).change(id, (known) => known && { ...known, stored });
    return cardMaker(host)(place, record);
  },
  'repositories.garbage': async ({ id }, call) => {
    const { host } = call;
    const place = findPlace(host, id);
    const garbage = await findGarbage(jobContextOf(call, workspaceOf(place)), host.clock.nowMs());
    const record = await openRepositoryFile(host).change(id, (known) => known && { ...known, garbage });
    return cardMaker(host)(place, record);
  },
  'repositories.planUpgrade': async ({ root }, call) => upgradeOf(call, root, { dryRun: true }),
  'repositories.upgrade': async ({ root }, call) => upgradeOf(call, root),
  'repositories.planRepair': async ({ root }, call) => {
    const { repair } = await import('../../jobs/repair/repair.ts');
    return repair(jobContextOf(call, root), { dryRun: true });
  },
  ...RETENTION,
};

async function upgradeOf(call: HostCall, root: string, request: UpgradeRequest = {}) {
  const { upgrade } = await import('../../jobs/remotes/upgrade.ts');
  return upgrade(jobContextOf(call, root), request);
}

/** @throws `notFound` */
function findPlace(host: HostState, id: string): KnownPlace {
  const place = findKnownPlaces(host).get(id);
  if (!place) throw new DrayError('notFound', `No known repository is at ${id}.`, { data: { id } });
  return place;
}

/** Sends the card as soon as the newest commit is known, and again at the end. */
async function refresh(call: HostCall, place: KnownPlace, commitsMax: number): Promise<RepositoryCard> {
  const { emit, host, signal } = call;
  const file = openRepositoryFile(host);
  const makeCard = cardMaker(host);
  const send = (card: RepositoryCard) => {
    emit({ type: 'repository', repository: card });
    return card;
  };
  const context = { ...jobContextOf(call, homedir()), emit: () => {} };
  let known = file.read().get(place.id);
  try {
    const record = await refreshRepository(context, {
      place,
      known,
      nowMs: host.clock.nowMs(),
      commitsMax,
      onRecord: async (next) => {
        known = await file.change(place.id, (last) => ({ ...next, ...newerSizes(last, next) }));
        send(makeCard(place, known));
      },
    });
    return send(record ? makeCard(place, known) : { ...makeCard(place, undefined), state: 'none' });
  } catch (error) {
    // An aborted refresh is no failure of the repository.
    if (signal.aborted) throw error;
    return send(makeCard(place, known, toErrorRecord(error)));
  }
}

/** Keeps what was measured during the refresh. */
function newerSizes(
  last: RepositoryRecord | undefined,
  { repository }: RepositoryRecord,
): Pick<RepositoryRecord, 'stored' | 'garbage'> {
  if (last === undefined || last.repository !== repository) return {};
  const { garbage, stored } = last;
  return { ...(stored ? { stored } : {}), ...(garbage ? { garbage } : {}) };
}

type MakeCard = (
  place: KnownPlace,
  record: RepositoryRecord | undefined,
  failure?: ErrorRecord,
) => RepositoryCard;

function cardMaker(host: HostState): MakeCard {
  const verified = readVerified(host);
  const usage = host.usageFile.read();
  const thisMonth = new Date(host.clock.nowMs()).toISOString().slice(0, 'yyyy-mm'.length);
  return (place, record, failure) => {
    const requestDollars = usage
      .filter(({ month, place: billed }) => month === thisMonth && place.billedAs.includes(billed))
      .reduce((sum, { requests }) => sum + requests.dollars, 0);
    return {
      id: place.id,
      url: formatRemoteUrl(place.url),
      knownAs: place.knownAs,
      ...(place.isEncrypted ? { isEncrypted: true } : {}),
      state: !record ? 'unknown' : record.tip ? 'ready' : 'empty',
      ...(failure ? { failure } : {}),
      ...factsOf(record, record?.repository === undefined ? undefined : verified.get(record.repository)),
      growth: growthOf(record),
      cost: costOf(place, record, requestDollars),
    };
  };
}

function factsOf(record: RepositoryRecord | undefined, verified: VerifyRecord | undefined) {
  if (!record) return {};
  const { answeredAt, branch, garbage, stored, tip } = record;
  const { repository: _repository, ...ofVerify } = verified ?? {};
  return {
    answeredAt,
    ...(branch === undefined ? {} : { branch }),
    ...(tip ? { tip } : {}),
    ...(stored ? { stored } : {}),
    ...(garbage ? { garbage } : {}),
    ...(verified ? { verified: ofVerify as Omit<VerifyRecord, 'repository'> } : {}),
  };
}

function growthOf(record: RepositoryRecord | undefined): RepositoryCard['growth'] {
  const [first] = record?.growth ?? [];
  if (!first) return { months: [], commitsRead: 0, isWhole: true };
  return {
    months: first.months.toReversed(),
    commitsRead: first.commits,
    isWhole: first.next === undefined,
  };
}

function costOf(
  { url }: KnownPlace,
  record: RepositoryRecord | undefined,
  requestDollars: number,
): RepositoryCost {
  const basis = record?.stored ? 'stored' : 'newest';
  const bytes = record?.stored?.bytes ?? record?.tip?.bytes;
  const storageDollars =
    record === undefined || bytes === undefined || !hasKnownPrices(url.kind, record.provider)
      ? undefined
      : storageDollarsFor(record.provider, bytes);
  return { requestDollars, ...(storageDollars === undefined ? {} : { storageDollars, basis }) };
}
