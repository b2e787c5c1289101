/** Looks for newer packages of the desktop app where the user says that they lie. Nothing is asked of anybody while the channel is off. */
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { EntryRow, Settings, UpdateLook } from '../api/host.ts';
import type { JobContext } from '../api/jobs.ts';
import { readVersion } from '../base/dray-version.ts';
import { parseNamedPlace } from '../jobs/open-side.ts';
import type { LocalPlace, RemotePlace } from '../jobs/places.ts';
import { listLocalFolder, listRemoteFolder } from './browse-list.ts';
import { type HandlersOf, type HostCall, jobContextOf } from './host-call.ts';
import type { HostState } from './host-state.ts';
import {
  compareVersions,
  fittingPackages,
  nameOfEnding,
  type PackagedSystem,
  packageEndings,
} from './update-packages.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Of 1,000 entries each: a place with more is none that was made for packages. */
const PAGES_MAX = 10;

export const UPDATES: HandlersOf<'updates'> = {
  'updates.claimDaily': async (_input, { host }) => {
    const { settings, updatesLookedMs } = host.windowFile.read();
    const sinceMs = host.clock.nowMs() - (updatesLookedMs ?? 0);
    // A moment in the future comes of a clock that was put back.
    const isDue = canLook(settings.updates) && (sinceMs >= DAY_MS || sinceMs < 0);
    if (isDue) noteLook(host);
    return { isDue };
  },
  'updates.look': async (_input, call) => {
    const { updates } = call.host.windowFile.read().settings;
    if (!canLook(updates))
      throw new DrayError('usage', 'Updates are looked for once a channel and a place are chosen.');
    noteLook(call.host);
    return look(call, updates);
  },
};

type Chosen = Settings['updates'] & { readonly place: string };

function canLook(updates: Settings['updates']): updates is Chosen {
  return updates.channel !== 'off' && updates.place !== null;
}

function noteLook({ clock, windowFile }: HostState): void {
  windowFile.change((facts) => ({ ...facts, updatesLookedMs: clock.nowMs() }));
}

async function look(call: HostCall, { channel, place: text }: Chosen): Promise<UpdateLook> {
  const context = jobContextOf(call, homedir());
  const place = parseNamedPlace(context, { place: text });
  const files = await filesAt(context, place);
  const endings = packageEndings(thisSystem(call.host.environment));
  const fitting = fittingPackages([...files.keys()], endings, channel);
  const version = readVersion();
  const [newest] = fitting;
  return {
    version,
    fitting: fitting.length,
    names: endings.map(nameOfEnding),
    downloads: downloadsFolder(),
    ...(newest && compareVersions(newest.version, version) > 0
      ? {
          newer: {
            ...newest,
            place: placeWithin(place, text, newest.name),
            sizeBytes: files.get(newest.name)!,
          },
        }
      : {}),
  };
}

/** Name to size, of the files at the top of the place. */
async function filesAt(
  context: JobContext,
  place: LocalPlace | RemotePlace,
): Promise<ReadonlyMap<string, number>> {
  const files = new Map<string, number>();
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { entries, next } =
      place.kind === 'local' ? listLocalFolder(place, after) : await listRemoteFolder(context, place, after);
    for (const { kind, path, sizeBytes } of entries as readonly EntryRow[])
      if (kind === 'file') files.set(path, sizeBytes);
    if (next === undefined) return files;
    after = next;
  }
  throw new DrayError('usage', `${place.text} holds too much. Name a folder that holds packages alone.`);
}

/** As a user would write it: parameters of a URL stay at its end. Names of packages have no character that a URL would encode. */
function placeWithin(place: LocalPlace | RemotePlace, text: string, name: string): string {
  if (place.kind === 'local') return join(place.path, name);
  const isUrl = /^[a-z]+:\/\//i.test(text);
  const end = isUrl && text.includes('?') ? text.indexOf('?') : text.length;
  const base = text.slice(0, end);
  return `${base}${/[:/]$/.test(base) ? '' : '/'}${name}${text.slice(end)}`;
}

function thisSystem(environment: JobContext['environment']): PackagedSystem {
  return {
    platform: process.platform,
    arch: process.arch,
    isAppImage: Boolean(environment.APPIMAGE),
    isDebian: existsSync('/etc/debian_version'),
  };
}

function downloadsFolder(): string {
  const folder = join(homedir(), 'Downloads');
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : homedir();
}
