/**
 * Opens the two places of a copy or a check: finds out which of them are single files, and where the trees
 * begin.
 */
import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { TreePairRequest } from '../../api/jobs/trees.ts';
import { ifThere } from '../../base/if-there.ts';
import { LINK_SUFFIX, localPlaceKind, statLocal } from '../../files/scan/local-place.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { headItemOf } from '../../query/trees/head-item.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import { type KeyRange, withinRange } from '../../remotes/wrappers/within-range.ts';
import { checkOutsideRepository } from '../places/outside-repository.ts';
import {
  checkApart,
  checkReplaceable,
  checkStoresApart,
  type LocalPlace,
  nameOfPlace,
  openPlace,
  type Place,
  parsePlace,
  placeIdentity,
  type RemotePlace,
} from '../places/places.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { versionIsFixed } from '../versions/version-store.ts';
import { followLink } from './local-items.ts';
import type { LocalSide, RemoteSide, TreeSide } from './sides.ts';

export interface TreePair extends AsyncDisposable {
  readonly source: TreeSide;
  readonly destination: TreeSide;
  /** When the source is one file or object: that item, with the name that it has at the destination. */
  readonly only?: TreeItem;
  /** An empty source is no mistake: it is a whole bucket, or a part of the work. */
  readonly mayBeEmpty: boolean;
  /** Of every store that the run has opened. */
  readonly meters: Meter[];
  /** The keys of the two places in the index. */
  readonly identity: readonly [string, string];
  close(): Promise<void>;
}

export interface OpenPairOptions {
  /** Links are objects of their own there; see `LINK_SUFFIX`. */
  readonly links?: boolean | undefined;
  /** Modes and times of folders are copied too. */
  readonly folders?: boolean;
  /** List only these keys of both sides, which must be stores. */
  readonly range?: KeyRange | undefined;
}

/** @throws `usage` when the places overlap or cannot be combined, `notFound` when there is no such source */
export async function openTreePair(
  context: JobContext,
  request: TreePairRequest,
  options: OpenPairOptions = {},
): Promise<TreePair> {
  const from = parsePlace(context, request.source);
  const to = parsePlace(context, request.destination);
  if (from.kind === 'stdio' || to.kind === 'stdio')
    throw new DrayError('usage', '"-" stands for one object: use it with "copy" and the name of an object.');
  checkOutsideRepository(from, to, context.environment);
  const opener = new PairOpener(context, options);
  const mayNest = request.filter?.filesFrom?.every((path) => !path.includes('/')) ?? false;
  try {
    const source = await opener.openSource(from);
    if (!source.only) checkApart(from, to, context.environment, { mayNest });
    const destination = await opener.openDestination(to, source.only && source.name);
    if (!source.only && source.side.kind === 'remote' && destination.side.kind === 'remote')
      checkStoresApart([from, source.side.store], [to, destination.side.store], { mayNest });
    const only =
      source.only && destination.name !== undefined ? { ...source.only, path: destination.name } : undefined;
    const [sourceSide, destinationSide] = source.only
      ? [source.side, destination.side]
      : withShared(source.side, destination.side, options);
    const { range } = options;
    return {
      source: clipped(sourceSide, range),
      destination: clipped(destinationSide, range),
      ...(only ? { only } : {}),
      mayBeEmpty: range !== undefined || (from.kind === 'remote' && from.url.prefix === ''),
      meters: opener.meters,
      identity: [placeIdentity(from, context.environment), placeIdentity(to, context.environment)],
      close: () => opener.close(),
      [Symbol.asyncDispose]: () => opener.close(),
    };
  } catch (error) {
    await opener.close();
    throw error;
  }
}

/**
 * Lets both sides pass on what both can store: everything between two machines' folders, here without
 * folders' modes and times.
 */
function withShared(
  source: TreeSide,
  destination: TreeSide,
  { folders, links }: OpenPairOptions,
): readonly [TreeSide, TreeSide] {
  const isOf = (side: TreeSide) => (side.kind === 'local' ? 'local' : side.store.files ? 'peer' : 'store');
  const kinds = new Set([isOf(source), isOf(destination)]);
  // With links as objects, a peer is a store like any other.
  if (kinds.has('store') || (links && kinds.has('peer'))) return [source, destination];
  const shared: Pick<TreeSide, 'folders' | 'special'> = {
    ...(kinds.has('peer') ? { special: true } : {}),
    ...(folders ? { folders: true } : {}),
  };
  return [
    { ...source, ...shared },
    { ...destination, ...shared },
  ];
}

function clipped(side: TreeSide, range: KeyRange | undefined): TreeSide {
  return range && side.kind === 'remote' ? { ...side, store: withinRange(side.store, range) } : side;
}

interface OpenedSource {
  readonly side: TreeSide;
  /** A single file or object, and its own name. */
  readonly only?: TreeItem;
  readonly name?: string;
}

interface OpenedDestination {
  readonly side: TreeSide;
  /** The name of a single file. */
  readonly name?: string;
}

const withoutLinkSuffix = (path: string): string =>
  path.endsWith(LINK_SUFFIX) ? path.slice(0, -LINK_SUFFIX.length) : path;
const SAME_PATH = (path: string): string => path;

class PairOpener {
  readonly meters: Meter[] = [];
  readonly #context: JobContext;
  readonly #options: OpenPairOptions;
  readonly #opened: OpenedRemote[] = [];

  constructor(context: JobContext, options: OpenPairOptions) {
    this.#context = context;
    this.#options = options;
  }

  async openSource(place: Place): Promise<OpenedSource> {
    if (place.kind === 'local') return openLocalSource(place, this.#options);
    if (place.kind === 'stdio') throw new Error('unreachable');
    if (!place.isFolderForm) {
      const single = await this.#openObject(place);
      if (single) return single;
    }
    return { side: await this.#openSessionRemote(place, 'place') };
  }

  async openDestination(place: Place, sourceName: string | undefined): Promise<OpenedDestination> {
    if (place.kind === 'stdio') throw new Error('unreachable');
    if (place.kind === 'local') return openLocalDestination(place, sourceName, this.#options);
    if (place.url.kind === 'version') throw versionIsFixed(place.text);
    if (sourceName === undefined || place.isFolderForm) {
      const side = await this.#openSessionRemote(place, 'place');
      return { side, ...(sourceName === undefined ? {} : { name: sourceName }) };
    }
    const name = nameOfPlace(place);
    const isLink = this.#options.links === true && sourceName.endsWith(LINK_SUFFIX);
    return {
      side: await this.#openSessionRemote(place, 'parent'),
      name: isLink ? withLinkSuffix(name) : name,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map(({ store }) => store.close()));
  }

  async #openObject(place: RemotePlace): Promise<OpenedSource | undefined> {
    const side = await this.#openSessionRemote(place, 'parent');
    const name = nameOfPlace(place);
    const { signal } = this.#context;
    const info = await side.store.head(name, { checksums: true, signal });
    if (!info) return undefined;
    return { side: { ...side, pathOf: () => name }, only: headItemOf(name, info), name };
  }

  async #openSessionRemote(place: RemotePlace, at: 'place' | 'parent'): Promise<RemoteSide> {
    const remote = await openPlace(this.#context, place, { at, beside: this.#opened[0] });
    this.#opened.push(remote);
    const { limit, meter, store } = remote;
    this.meters.push(meter);
    return { kind: 'remote', store, limit, text: place.text, pathOf: SAME_PATH };
  }
}

function openLocalSource(place: LocalPlace, { links }: OpenPairOptions): OpenedSource {
  const { path, text } = place;
  const kind = localPlaceKind(path);
  const link = links && kind !== 'folder' ? openLink(place) : undefined;
  if (link) return link;
  switch (kind) {
    case 'folder':
      return { side: localSide(path, text, links) };
    case 'file': {
      // Otherwise a link that the user named is followed, but the copy has the link's name.
      const real = followLink(path);
      const name = basename(real);
      const root = dirname(real);
      const found = statLocal(root, name, { modes: true });
      if (typeof found !== 'object') break;
      return { side: { ...localSide(root, text), pathOf: () => name }, only: found, name: basename(path) };
    }
    case 'other':
      throw new DrayError('usage', `${text} is neither a file nor a folder.`);
    case 'absent':
      break;
  }
  throw new DrayError('notFound', `The source ${text} does not exist.`, { data: { path } });
}

/** A single link, as an object of its own. Undefined for anything else. */
function openLink({ isFolderForm, path, text }: LocalPlace): OpenedSource | undefined {
  if (isFolderForm || !isLinkThere(path)) return undefined;
  const [root, target] = [dirname(path), basename(path)];
  const found = statLocal(root, target, { links: true });
  if (typeof found !== 'object') return undefined;
  const name = `${target}${LINK_SUFFIX}`;
  return { side: { ...localSide(root, text), pathOf: () => target }, only: { ...found, path: name }, name };
}

function isLinkThere(path: string): boolean {
  return ifThere(() => lstatSync(path, { throwIfNoEntry: false }))?.isSymbolicLink() ?? false;
}

/** The name of a single link's copy, which says that it is one. */
function withLinkSuffix(name: string): string {
  return name.endsWith(LINK_SUFFIX) ? name : `${name}${LINK_SUFFIX}`;
}

function openLocalDestination(
  place: LocalPlace,
  sourceName: string | undefined,
  { links }: OpenPairOptions,
): OpenedDestination {
  const { isFolderForm, path, text } = place;
  const kind = localPlaceKind(path);
  if (sourceName === undefined) {
    if (kind === 'file' || kind === 'other')
      throw new DrayError('usage', `${text} is a file, but the source is a folder. Name a folder.`, {
        data: { path },
      });
    return { side: localSide(path, text, links) };
  }
  const isLink = links === true && sourceName.endsWith(LINK_SUFFIX);
  if (kind === 'folder') return { side: localSide(path, text, isLink), name: sourceName };
  if (isFolderForm) {
    if (kind === 'absent') return { side: localSide(path, text, isLink), name: sourceName };
    throw new DrayError(
      'usage',
      `${text} is a file, but ends like a folder. Leave out the slash, or choose another name.`,
      {
        data: { path },
      },
    );
  }
  if (!isLink || !isLinkThere(path)) checkReplaceable(place);
  const name = basename(path);
  return { side: localSide(dirname(path), text, isLink), name: isLink ? withLinkSuffix(name) : name };
}

function localSide(root: string, text: string, links = false): LocalSide {
  return { kind: 'local', root: join(root), text, pathOf: links ? withoutLinkSuffix : SAME_PATH };
}
