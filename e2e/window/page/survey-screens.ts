/**
 * A workspace for pictures: the survey of a coast, pushed over several seasons by two people to a real store,
 * with unpushed changes.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { startBrowser } from '../browser-and-store.ts';
import { encodePng } from '../data/encode-png.ts';
import { type OpenWindow, openWindow } from '../open-window.ts';

const TILES = 24;
const TILE_SIDE = 160;
const RECORDINGS = 5;

/** The headings of all screens. */
export const SCREENS = [
  'Home',
  'Changes',
  'Plan',
  'Transfers',
  'Jobs',
  'Fleets',
  'History',
  'Browse',
  'Repositories',
  'Remotes',
  'Settings',
] as const;

/** @returns The address of a screen with this title, such as `/#/history`. */
export function addressOf(title: string): string {
  return title === 'Fleets' ? '/#/fleet' : `/#/${title.toLowerCase()}`;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface SurveyPlaces {
  /** The folder of the workspace. */
  readonly root: string;
  /** The folder of a second person's clone. */
  readonly otherRoot: string;
  readonly remoteUrl: string;
  readonly environment: Environment;
}

/**
 * Call it in a `describe`: one window for all tests, which knows the survey's two workspaces. Its page and
 * origin are available within tests and hooks.
 */
export function startSurveyWindow(): Pick<OpenWindow, 'origin' | 'page'> {
  const started = startBrowser();
  let window: OpenWindow;
  beforeAll(async () => {
    window = await openWindow(started.browser);
    const [root, otherRoot] = [join(window.folder, 'coast-survey'), join(window.folder, 'noor')];
    const home = join(window.folder, 'home');
    await makeSurvey({
      root,
      otherRoot,
      remoteUrl: pathToFileURL(join(window.folder, 'remote')).href,
      environment: { HOME: home },
    });
    write(home, '.config/dray/window.json', JSON.stringify({ workspaces: [root, otherRoot] }));
  });
  afterAll(() => window?.[Symbol.asyncDispose]());
  return {
    get origin() {
      return window.origin;
    },
    get page(): Page {
      return window.page;
    },
  };
}

/** Makes six commits on two branches, a merge and a tag, then unpushed changes of every kind. */
export async function makeSurvey({ environment, otherRoot, remoteUrl, root }: SurveyPlaces): Promise<void> {
  const as = async (author: string, folder: string, ...parameters: string[]) => {
    const { exitCode, stderr } = await runCli(parameters, {
      cwd: folder,
      environment: { ...(environment as Record<string, string>), DRAY_AUTHOR: author },
    });
    if (exitCode !== 0) throw new Error(`dray ${parameters.join(' ')} exited with ${exitCode}: ${stderr}`);
  };
  const ada = (...parameters: string[]) => as('Ada', root, ...parameters);
  const noor = (...parameters: string[]) => as('Noor', otherRoot, ...parameters);
  writeFirstSeason(root);
  await ada('init', '--remote', remoteUrl);
  await ada('push', '-m', 'First season');
  await as('Noor', dirname(otherRoot), 'clone', remoteUrl, otherRoot);

  write(root, 'stations.csv', stations({ count: 12, offset: 0.25 }));
  await ada('push', '-m', 'Stations calibrated against the gauge at the pier');
  await ada('tag', 'season-1');
  write(otherRoot, 'notes/2026-06-14.md', '# Low tide\n\nThe northern bank has moved by 40 m.\n');
  await noor('push', '-m', 'Notes of the low tide in June');
  await ada('pull');
  await ada('branch', 'denoise');
  for (let at = 0; at < 2; at += 1)
    write(root, `recordings/hydrophone-${at + 1}.raw`, noise(1_200_000, 90 + at));
  await ada('push', '-m', 'Two recordings without the ferry');

  write(
    root,
    'README.md',
    README.replace('12 stations', '14 stations').replace('two seasons', 'three seasons'),
  );
  write(root, 'stations.csv', stations({ count: 14, offset: 0.25 }));
  write(root, 'tiles/tile-03.png', tile(3, 0.55));
  write(root, 'tiles/tile-24.png', tile(24, 0));
  write(root, 'tiles/tile-25.png', tile(25, 0));
  for (let at = 6; at <= 9; at += 1)
    write(root, `recordings/hydrophone-${at}.raw`, noise(12_000_000, 200 + at));
  renameSync(join(root, 'recordings/hydrophone-4.raw'), join(root, 'recordings/pier-4.raw'));
  for (const name of ['draft-1.txt', 'draft-2.txt', 'draft-3.txt']) rmSync(join(root, 'scratch', name));
}

const README = `# Survey of the coast

Tiles of the sea floor, recordings and tide gauges of two seasons,
from 12 stations between the pier and the northern bank.

- tiles: depth, 10 cm a shade
- recordings: hydrophones, 96 kHz
- stations.csv: where they stand, and their zero
`;

function writeFirstSeason(root: string): void {
  write(root, 'README.md', README);
  write(root, 'stations.csv', stations({ count: 12, offset: 0 }));
  for (let at = 0; at < TILES; at += 1) write(root, `tiles/tile-${two(at)}.png`, tile(at, 0));
  for (let at = 0; at < RECORDINGS; at += 1)
    write(root, `recordings/hydrophone-${at + 1}.raw`, noise(1_500_000 + at * 260_000, at));
  for (let at = 1; at <= 3; at += 1) write(root, `scratch/draft-${at}.txt`, `Draft ${at}\n`);
}

function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function stations({ count, offset }: { readonly count: number; readonly offset: number }): string {
  const rows = Array.from({ length: count }, (_, at) => {
    const zero = (1.5 + at * 0.13 + (at % 3 === 0 ? offset : 0)).toFixed(2);
    return `${two(at + 1)},54.${3100 + at * 37},8.${6200 + at * 53},${zero}`;
  });
  return `${['station,latitude,longitude,zero_m', ...rows].join('\n')}\n`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** Incompressible content, equal for equal seeds. */
function noise(sizeBytes: number, seed: number): Buffer {
  let state = (seed + 1) * 2_654_435_769;
  const words = new Uint32Array(Math.ceil(sizeBytes / 4));
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[at] = state;
  }
  return Buffer.from(words.buffer, 0, sizeBytes);
}

/** A picture of waves in shades of blue and sand. */
function tile(seed: number, shift: number): Buffer {
  return encodePng(TILE_SIDE, (x, y) => {
    const [u, v] = [x / TILE_SIDE + (seed % 5), y / TILE_SIDE + Math.floor(seed / 5)];
    const depth = 0.5 + 0.3 * Math.sin(2.1 * u + 1.3 * v + 5 * shift) + 0.2 * Math.sin(5.3 * v - 3.7 * u);
    const shade = Math.min(1, Math.max(0, Math.round(depth * 12) / 12));
    return [40 + 190 * shade, 90 + 120 * shade, 130 + 50 * shade];
  });
}
