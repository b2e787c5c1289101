/** Objects for a fleet's runs: put through the server, so that it knows their checksums. */
import { linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FleetMachine, placeOn } from './fleet-machine.ts';

export interface ObjectKind {
  /** The folder below the prefix. */
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
}

const FILES_IN_FOLDER = 500;
/** Written and sent at once, so that the files take little room beside the objects. */
const FILES_AT_ONCE = 50_000;
const BYTES_AT_ONCE = 2 * 1024 ** 3;

/**
 * A folder of each kind and then hard links of its stored objects, which keep their checksums: the same
 * contents come again in other folders, and a million objects are there in seconds.
 */
export async function fillByLinks(
  machine: FleetMachine,
  prefix: string,
  { bytes, count, name }: ObjectKind,
): Promise<void> {
  await fillStore(machine, prefix, [{ name, bytes, count: Math.min(count, FILES_IN_FOLDER) }]);
  const root = join(machine.source.dataFolder, machine.source.bucket, prefix, name);
  const first = join(root, nameOfFolder(0));
  const names = readdirSync(first);
  for (let at = FILES_IN_FOLDER; at < count; at += 1) {
    const folder = join(root, nameOfFolder(at));
    if (at % FILES_IN_FOLDER === 0) mkdirSync(folder);
    linkSync(join(first, names[at % FILES_IN_FOLDER]!), join(folder, nameOfFile(at)));
  }
}

/** @returns Bytes of all objects. */
export async function fillStore(
  machine: FleetMachine,
  prefix: string,
  kinds: readonly ObjectKind[],
): Promise<number> {
  const tree = join(machine.folder, 'tree');
  for (const { bytes, count, name } of kinds) {
    const step = Math.max(1, Math.min(FILES_AT_ONCE, Math.floor(BYTES_AT_ONCE / bytes)));
    for (let first = 0; first < count; first += step) {
      for (let at = first; at < Math.min(count, first + step); at += 1)
        writeObject(tree, name, { at, bytes });
      const place = placeOn(machine.source, prefix);
      const { exitCode, output } = await machine.run(['copy', '-q', '--no-index', tree, place]);
      if (exitCode !== 0) throw new Error(`The source was not filled:\n${output}`);
      rmSync(tree, { recursive: true });
    }
  }
  await machine.source.resetRequests();
  return kinds.reduce((sum, { bytes, count }) => sum + bytes * count, 0);
}

function writeObject(
  tree: string,
  name: string,
  { at, bytes }: { readonly at: number; readonly bytes: number },
): void {
  const folder = join(tree, name, nameOfFolder(at));
  mkdirSync(folder, { recursive: true });
  // No two have the same content.
  const content = Buffer.alloc(bytes, `${name} ${at} `);
  writeFileSync(join(folder, nameOfFile(at)), content);
}

function nameOfFolder(at: number): string {
  return String(Math.floor(at / FILES_IN_FOLDER)).padStart(5, '0');
}

function nameOfFile(at: number): string {
  return `${String(at).padStart(7, '0')}.bin`;
}
