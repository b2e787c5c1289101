/**
 * Shows Dray at work, from a bare clone of this project:
 *
 *   npm run quickstart                  on a sample that it makes
 *   npm run quickstart -- FOLDER        on a copy of a folder of yours, which is not changed
 *
 * Prints every command as a user would type it and runs it in its own process. It simulates nothing and
 * removes nothing: the last lines say where everything is.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildCommand } from '../build/build.ts';
import { writeLine } from '../cli/output/terminal.ts';
import { compareTrees } from './compare-trees.ts';
import { copyFolder, measureFolder, refuseFolder } from './copy-folder.ts';
import { makeChanges } from './make-changes.ts';
import { SAMPLE, writeSample } from './sample-data.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const MIB = 1024 * 1024;

interface Places {
  readonly data: string;
  readonly remote: string;
  readonly clone: string;
}

function say(text: string): void {
  print('', text);
}

function print(...lines: readonly string[]): void {
  for (const line of lines) writeLine('stdout', line);
}

/** Runs `dray` with its output on this terminal, and prints its duration including start-up. */
function dray(directory: string, ...parameters: string[]): void {
  const shown = parameters.map((word) => (/^[\w:/.@%+=-]+$/.test(word) ? word : JSON.stringify(word)));
  say(`$ dray ${shown.join(' ')}`);
  const startedMs = performance.now();
  const { status, error } = spawnSync(process.execPath, [join(DIST, 'dray.js'), ...parameters], {
    cwd: directory,
    stdio: 'inherit',
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(2);
  if (status !== 0) throw new Error(`The command above failed with ${status ?? error?.message}.`);
  print(`  [${seconds} s]`);
}

async function prepareData(folder: string | undefined, places: Places): Promise<void> {
  if (folder === undefined) {
    const large = `${SAMPLE.largeFiles} files of ${SAMPLE.largeBytes / MIB} MiB`;
    say(`Making a sample in ${places.data}: ${SAMPLE.smallFiles} small files and ${large}.`);
    mkdirSync(places.data);
    await writeSample(places.data, SAMPLE);
    return;
  }
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder.`);
  const size = await measureFolder(folder);
  const shown = `${folder} (${size.files} files, ${(size.bytes / MIB).toFixed(1)} MiB)`;
  const refusal = await refuseFolder(size, tmpdir());
  if (refusal) throw new Error(`${shown}: ${refusal}\n\n${formatOwnCommands(folder)}`);
  say(`Copying ${shown} to ${places.data}. Your folder stays as it is.`);
  await copyFolder(folder, places.data);
}

function formatOwnCommands(folder: string): string {
  return ['dray init --remote s3://BUCKET/PREFIX', 'dray push -m "first version"', 'dray status']
    .map((line) => `  ${line}`)
    .join('\n')
    .replace(/^/, `  cd ${folder}\n`);
}

async function demonstrate({ data, remote, clone }: Places): Promise<void> {
  say(`$ cd ${data}`);
  say(
    '1. Make the folder a workspace. Its repository is a plain folder here; s3://BUCKET/PREFIX works the same.',
  );
  dray(data, 'init', '--remote', pathToFileURL(remote).href);
  say('2. Store it. Small files travel together in packs, large ones in chunks that are cut by content.');
  dray(data, 'push', '-m', 'first version');
  say('3. Again: nothing changed, and finding that out takes one request.');
  dray(data, 'push');
  dray(data, 'log');
  say('4. Change something of each kind.');
  print('', ...(await makeChanges(data)).map((line) => `$ ${line}`));
  dray(data, 'status');
  dray(data, 'diff');
  say('5. Store the changes. Only what is new is sent; a renamed file is not.');
  dray(data, 'push', '-m', 'a few changes', '--explain');
  dray(data, 'log');
  say('6. Get it elsewhere. Every file is checked against its hash before it takes its place.');
  dray(join(clone, '..'), 'clone', pathToFileURL(remote).href, clone);
  say('7. Ask the store whether it holds all that the commit names, and read all of it back.');
  dray(data, 'verify', '--read-data');
}

async function prove({ data, clone }: Places): Promise<void> {
  say(`8. Compare both folders byte for byte, without Dray: ${data} and ${clone}`);
  const { files, links, folders, bytes, differences } = await compareTrees(data, clone, ['.dray']);
  print(...differences.slice(0, 20).map((difference) => `  ${difference}`));
  if (differences.length > 0) throw new Error(`The folders differ in ${differences.length} places.`);
  const counts = `${links} ${links === 1 ? 'link' : 'links'}, ${folders} ${folders === 1 ? 'folder' : 'folders'}`;
  print(`  Equal: ${files} files (${(bytes / MIB).toFixed(1)} MiB), ${counts}.`);
}

async function main(folder: string | undefined): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dray-quickstart-')));
  const places = { data: join(base, 'data'), remote: join(base, 'remote'), clone: join(base, 'clone') };
  try {
    say('Building the command as it is published (npm run build).');
    await buildCommand(DIST);
    await prepareData(
      folder === undefined ? undefined : resolve(process.env.INIT_CWD ?? '.', folder),
      places,
    );
    await demonstrate(places);
    await prove(places);
    say('Everything is still there to look at:');
    print(`  workspace   ${places.data}`, `  repository  ${places.remote}`, `  clone       ${places.clone}`);
    say(`Remove it with: rm -r ${base}`);
  } catch (error) {
    // The most likely cause is a file of the user that cannot be read; the message names it.
    const lines = `quickstart: ${error instanceof Error ? error.message : error}`.split('\n');
    for (const line of ['', ...lines]) writeLine('stderr', line);
    process.exitCode = 1;
  }
}

await main(process.argv[2]);
