/**
 * Where the content of a DVC project lies: its local cache and its remotes, in the layout of DVC 3
 * (`files/md5/ab/...`) or of those before (`ab/...`). DVC's remotes that Dray cannot read are named.
 */
import { existsSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DrayError } from '../../../api/error.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { parseRemoteUrl, type RemoteUrl } from '../../../remotes/remote-url.ts';
import { checkStoresApart, realPathOf } from '../../places/places.ts';
import { type OpenedRemote, openRemoteAt, parseGivenUrl } from '../../session/opened-remote.ts';
import { type DvcConfig, defaultRemoteOf, remoteNames, remoteOf } from './dvc-config.ts';
import type { DvcHashKind } from './dvc-outputs.ts';

export interface DvcPlace {
  readonly opened: OpenedRemote;
  /** For messages. */
  readonly address: string;
}

export interface DvcPlaces extends AsyncDisposable {
  /** The project's cache on this machine, if there is one. */
  readonly cache: DvcPlace | undefined;
  /**
   * The remote of an output. Undefined: there is none.
   * @throws `unsupported`, `usage`
   */
  remote(ofOutput: string | undefined): Promise<DvcPlace | undefined>;
  /** Where the content of an output was looked for, besides the cache, once `remote` has opened it. */
  addressOf(ofOutput: string | undefined): string | undefined;
  opened(): readonly OpenedRemote[];
  /**
   * Dray writes nothing to the project and its remotes: refuses a repository there, also at a remote that is
   * opened later.
   * @throws `usage`
   */
  keepApart(repository: ObjectStore): void;
}

/** The keys at which an object may lie, the likely one first. */
export function keysOfMd5(md5: string, kind: DvcHashKind): readonly string[] {
  const old = `${md5.slice(0, 2)}/${md5.slice(2)}`;
  return kind === 'md5' ? [`files/md5/${old}`, old] : [old, `files/md5/${old}`];
}

export interface PlacesOptions {
  readonly root: string;
  readonly config: DvcConfig;
  /** In place of every other remote: a name, a URL, or a folder such as a cache. */
  readonly remote?: string | undefined;
}

export async function openDvcPlaces(context: JobContext, options: PlacesOptions): Promise<DvcPlaces> {
  const { config, root } = options;
  const folder = join(root, '.dvc');
  const cachePath = resolve(folder, config.get('cache')?.get('dir') ?? 'cache');
  const places = new Map<string, Promise<DvcPlace>>();
  const addresses = new Map<string, string>();
  const opened: OpenedRemote[] = [];
  let repository: ObjectStore | undefined;
  const open = async (url: RemoteUrl, at: JobContext): Promise<DvcPlace> => {
    const remote = await openRemoteAt(at, url, { plainFiles: true, mayBeMissing: true });
    opened.push(remote);
    if (repository) checkApartFrom(repository, remote.store);
    return { opened: remote, address: remote.store.address };
  };
  const cache = existsSync(cachePath) ? await open({ kind: 'file', path: cachePath }, context) : undefined;
  const nameOf = (ofOutput: string | undefined) => options.remote ?? ofOutput ?? defaultRemoteOf(config);
  return {
    cache,
    addressOf: (ofOutput) => addresses.get(nameOf(ofOutput) ?? ''),
    keepApart(target) {
      repository = target;
      for (const { store } of opened) checkApartFrom(target, store);
      const [path, inside] = [target, root].map((one) =>
        typeof one === 'string' ? realPathOf(one) : pathOf(one),
      );
      const isOwn =
        path !== undefined && (path === inside || `${path}${sep}`.startsWith(join(inside!, '.dvc', sep)));
      if (isOwn) throw notApart(target, root);
    },
    async remote(ofOutput) {
      const name = nameOf(ofOutput);
      if (name === undefined) return undefined;
      const known =
        places.get(name) ??
        (async () => {
          const { at, url } = locate(context, options, name);
          return await open(url, at);
        })();
      places.set(name, known);
      const place = await known;
      addresses.set(name, place.address);
      return place;
    },
    opened: () => opened,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((remote) => remote[Symbol.asyncDispose]()));
    },
  };
}

function checkApartFrom(repository: ObjectStore, store: ObjectStore): void {
  const own = { text: repository.address };
  checkStoresApart([own, repository], [{ text: store.address }, store], { mayNest: true });
  const path = pathOf(repository);
  if (path !== undefined && path === pathOf(store)) throw notApart(repository, store.address);
}

/** Of a folder of this machine. */
function pathOf({ address }: ObjectStore): string | undefined {
  return address.startsWith('file:') ? realPathOf(fileURLToPath(address)) : undefined;
}

function notApart({ address }: ObjectStore, place: string): DrayError {
  return new DrayError('usage', `The repository ${address} would lie in ${place}, which belongs to DVC.`, {
    data: { remote: address, path: place },
    advice: 'Choose another place with --to.',
  });
}

interface Located {
  readonly url: RemoteUrl;
  /** With the credentials and the endpoint of the remote. */
  readonly at: JobContext;
}

function locate(context: JobContext, { config, remote, root }: PlacesOptions, name: string): Located {
  const settings = remoteOf(config, name);
  if (!settings) {
    const isPlace = name === remote && (name.includes('/') || existsSync(resolve(context.directory, name)));
    if (isPlace) return { url: parseGivenUrl(context, name, context.directory), at: context };
    const known = remoteNames(config);
    const message = `The project has no remote ${name}. It has: ${known.join(', ') || 'none'}.`;
    throw new DrayError('usage', message, { data: { remote: name, known } });
  }
  const text = urlOf(config, name);
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 's3' && scheme !== 'file')
    throw new DrayError('unsupported', `Dray cannot read the DVC remote ${name} (${scheme}://).`, {
      data: { remote: name, reason: 'dvcRemote' },
      advice: `Run "dvc fetch" there (with -a or -T for more than one revision), then add "--remote .dvc/cache".`,
    });
  // DVC's URLs are not escaped.
  const escaped = scheme === 's3' ? text.replace(/[%?]/g, encodeURIComponent) : text;
  const url = parseRemoteUrl(escaped, join(root, '.dvc'));
  if (url.kind !== 's3') return { url, at: context };
  const [endpoint, region, profile] = ['endpointurl', 'region', 'profile'].map((key) => settings.get(key));
  const environment = { ...context.environment };
  const secrets = {
    access_key_id: 'AWS_ACCESS_KEY_ID',
    secret_access_key: 'AWS_SECRET_ACCESS_KEY',
    session_token: 'AWS_SESSION_TOKEN',
  };
  for (const [key, variable] of Object.entries(secrets)) {
    const value = settings.get(key);
    if (value !== undefined) environment[variable] = value;
  }
  // As DVC has it, these do not replace what the environment says.
  const files = { credentialpath: 'AWS_SHARED_CREDENTIALS_FILE', configpath: 'AWS_CONFIG_FILE' };
  for (const [key, variable] of Object.entries(files)) {
    const value = settings.get(key);
    if (value !== undefined) environment[variable] ??= resolve(root, value);
  }
  return {
    url: {
      ...url,
      ...(endpoint === undefined ? {} : { endpoint: endpoint.replace(/\/+$/, '') }),
      ...(region === undefined ? {} : { region }),
      ...(profile === undefined ? {} : { profile }),
      ...(settings.get('allow_anonymous_login')?.toLowerCase() === 'true' ? { anonymous: true } : {}),
    },
    at: { ...context, environment },
  };
}

const HOPS_MAX = 8;

/** `remote://NAME/REST` is a place below another remote. */
function urlOf(config: DvcConfig, name: string): string {
  let url = remoteOf(config, name)?.get('url') ?? '';
  for (let hop = 0; hop < HOPS_MAX && url.startsWith('remote://'); hop += 1) {
    const [, other = '', rest = ''] = /^remote:\/\/([^/]+)(\/.*)?$/.exec(url) ?? [];
    const base = remoteOf(config, other)?.get('url');
    url = base === undefined ? '' : `${base.replace(/\/+$/, '')}${rest}`;
  }
  if (url !== '' && !url.startsWith('remote://')) return url;
  throw new DrayError('usage', `The DVC remote ${name} has no URL.`, { data: { remote: name } });
}
