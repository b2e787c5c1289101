/** Objects for a fleet's runs: put through the server, so that it knows their checksums. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
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
  const folder = join(tree, name, String(Math.floor(at / FILES_IN_FOLDER)).padStart(5, '0'));
  mkdirSync(folder, { recursive: true });
  // No two have the same content.
  const content = Buffer.alloc(bytes, `${name} ${at} `);
  writeFileSync(join(folder, `${String(at).padStart(7, '0')}.bin`), content);
}
