/**
 * Where the content of a DVC project lies: its local cache and its remotes, in the layout of DVC 3
 * (`files/md5/ab/...`) or of those before (`ab/...`). DVC's remotes that Dray cannot read are named.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DrayError } from '../../../api/error.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { parseRemoteUrl, type RemoteUrl } from '../../../remotes/remote-url.ts';
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
  opened(): readonly OpenedRemote[];
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
  const opened: OpenedRemote[] = [];
  const open = async (url: RemoteUrl, at: JobContext): Promise<DvcPlace> => {
    const remote = await openRemoteAt(at, url, { plainFiles: true, mayBeMissing: true });
    opened.push(remote);
    return { opened: remote, address: remote.store.address };
  };
  const cache = existsSync(cachePath) ? await open({ kind: 'file', path: cachePath }, context) : undefined;
  return {
    cache,
    async remote(ofOutput) {
      const name = options.remote ?? ofOutput ?? defaultRemoteOf(config);
      if (name === undefined) return undefined;
      const known =
        places.get(name) ??
        (async () => {
          const { at, url } = locate(context, options, name);
          return await open(url, at);
        })();
      places.set(name, known);
      return await known;
    },
    opened: () => opened,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((remote) => remote[Symbol.asyncDispose]()));
    },
  };
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
    const [, other, rest = ''] = /^remote:\/\/([^/]+)(\/.*)?$/.exec(url) ?? [];
    url = `${
      remoteOf(config, other ?? '')
        ?.get('url')
        ?.replace(/\/+$/, '') ?? ''
    }${rest}`;
  }
  if (url !== '') return url;
  throw new DrayError('usage', `The DVC remote ${name} has no URL.`, { data: { remote: name } });
}
