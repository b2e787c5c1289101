/** What a program finds when it uses the library: an encrypted repository, a workspace, and remote stores. */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import type { LibraryTask } from './use-library.ts';

const LARGE_BYTES = 20_000_000;
const SMALL_FILES = 200;

/** Not compressible, and the same each time. */
const large = createHash('shake256', { outputLength: LARGE_BYTES }).update('large').digest();
const small = Array.from({ length: SMALL_FILES }, (_, at) => `small/${String(at).padStart(3, '0')}`);
const asar = archiveOf('inside', 'content');

/** The answer to each task. */
export const EXPECTED = {
  refs: ['branch main', 'tag v1'],
  listed: [['a.txt', 3], ['gone', 4], ['large', LARGE_BYTES], ...small.map((path) => [path, path.length])],
  large: hashOf(large),
  range: 'ne',
  diff: ['modified a.txt', 'deleted gone'],
  published: true,
  pulled: [1, 0, 0],
  pushed: [2, 1, 0],
  after: ['a.txt', 'broken.asar', 'large', 'notes', 'program.asar', ...small],
  archive: hashOf(asar),
  copied: { failed: 0, files: 5 + SMALL_FILES },
  remotes: ['small/007', 'small/007'],
};

interface Surroundings {
  /** Ending in `/`, such as `s3://bucket/`. */
  readonly stores: readonly string[];
  /** For the command that makes the repositories. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes a folder with a repository and a workspace with changes, and a repository in each store. */
export async function prepareLibraryTask(
  folder: string,
  { environment, stores }: Surroundings,
): Promise<LibraryTask> {
  const work = join(folder, 'work');
  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(work, name), content);
  const dray = async (...parameters: string[]) => {
    const { exitCode, stderr } = await runCli(parameters, { cwd: work, environment });
    if (exitCode !== 0) throw new Error(`dray ${parameters.join(' ')}: ${stderr}`);
  };
  mkdirSync(join(work, 'small'), { recursive: true });
  write('a.txt', 'one');
  write('gone', 'gone');
  write('large', large);
  for (const path of small) write(path, path);
  await dray('init', '--remote', join(folder, 'store'), '--encrypt', '--compress', 'auto');
  await dray('push', '-m', 'first');
  await dray('tag', 'v1');
  write('a.txt', 'changed');
  rmSync(join(work, 'gone'));
  await dray('push', '-m', 'second');
  write('a.txt', 'again');
  // Electron's `fs` shows an archive as a folder, and a damaged one as an error.
  write('program.asar', asar);
  write('broken.asar', 'no archive');
  const source = pathToFileURL(join(folder, 'store')).href;
  const remoteUrls = stores.map((store) => store + basename(folder));
  for (const [number, remoteUrl] of remoteUrls.entries()) {
    const copied = join(folder, `copied-${number}`);
    await dray('copy', `${source}?ref=main&path=small`, copied);
    await dray('init', copied, '--remote', remoteUrl, '--trust-new-peer');
    await dray('-C', copied, 'push');
  }
  return { library: new URL('library.js', pathToFileURL(COMMAND)).href, folder, remoteUrls };
}

/** An archive of Electron's with one file. Format: github.com/electron/asar, "Format". */
function archiveOf(name: string, content: string): Buffer {
  const header = Buffer.from(JSON.stringify({ files: { [name]: { size: content.length, offset: '0' } } }));
  const padded = Math.ceil(header.length / 4) * 4;
  const sizes = new Uint32Array([4, padded + 8, padded + 4, header.length]);
  return Buffer.concat([
    Buffer.from(sizes.buffer),
    header,
    Buffer.alloc(padded - header.length),
    Buffer.from(content),
  ]);
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
