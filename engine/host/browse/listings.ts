/**
 * The listings of folders that windows show. The rows stay in the engine, and windows read the part that they
 * show. A request lists until the folder is complete or the request is aborted; a later request with `resume`
 * continues from there.
 */
import { homedir } from 'node:os';
import type { AnswerOf, InputOf } from '../../api/host.ts';
import { checkAborted } from '../../base/abort.ts';
import { parseNamedPlace } from '../../jobs/places/open-side.ts';
import { type HostCall, jobContextOf } from '../port/host-call.ts';
import { createEntryList, type EntryList, type PlaceListing } from './entry-list.ts';
import type { EntrySource } from './entry-source.ts';
import { openSource } from './entry-sources.ts';

/** Each takes some 60 bytes. */
const ENTRIES_MAX = 5_000_000;

export async function openListing(
  { place, resume, search }: InputOf<'browse.open'>,
  call: HostCall,
): Promise<AnswerOf<'browse.open'>> {
  const { entryLists } = call.host;
  let list = resume;
  const listing = resume === undefined ? createListing({ place, search }, call) : entryLists.find(resume);
  try {
    const isWhole = await listing.listRest(call.signal, () => {
      list ??= entryLists.keep(call.owner, listing);
      const { isRepository, size: total } = listing.entries;
      call.emit({ type: 'listing', list, total, isRepository });
    });
    const { isRepository, size: total } = listing.entries;
    return { list: list!, total, isCut: !isWhole, isRepository };
  } finally {
    if (list === undefined) listing.close();
  }
}

interface Listed {
  readonly place: string;
  readonly search: string | undefined;
}

function createListing({ place, search }: Listed, call: HostCall): PlaceListing {
  const closing = new AbortController();
  // The listing outlives the request that started it, so it has a signal of its own.
  const context = { ...jobContextOf(call, homedir()), signal: closing.signal };
  const source = openSource(context, parseNamedPlace(context, { place }), search);
  const entries = createEntryList();
  let running: Promise<unknown> = Promise.resolve();
  return {
    place,
    entries,
    listRest(given, onMore) {
      const signal = AbortSignal.any([given, closing.signal]);
      const run = running.then(() => readRest(source, { entries, signal, onMore }));
      running = run.catch(() => {});
      return run;
    },
    close() {
      closing.abort();
      void running.then(() => source.close());
    },
  };
}

async function readRest(
  source: EntrySource,
  {
    entries,
    onMore,
    signal,
  }: { readonly entries: EntryList; readonly signal: AbortSignal; readonly onMore: () => void },
): Promise<boolean> {
  while (entries.size < ENTRIES_MAX) {
    checkAborted(signal);
    const more = await source.next(signal);
    if (!more) {
      await source.close();
      return true;
    }
    entries.push(more);
    onMore();
  }
  return false;
}
