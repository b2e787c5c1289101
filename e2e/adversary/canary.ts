/**
 * A tree that nobody may read, list or change: the adversary's tests lay it beside what they attack.
 *
 * The file system's access times show reads. Each is set to a moment before the item's last change, so that even a file
 * system mounted with `relatime` moves it at the first read (mount(8)).
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const CANARY_SECRET = 'CANARY-THAT-NOBODY-MAY-READ';
/** A name in the canary that no client asks for: only a listing of its folder tells it. */
export const CANARY_NAME = 'only-a-listing-tells-this-name';
const LONG_AGO_SECONDS = 1_000_000_000;
/** Names that a sweep of old temporary files, or a part of an upload, would have. */
const TEMPTING = [
  '00001',
  'upload.json',
  'authorized_keys',
  'left.dray-part',
  'writes/1',
  'uploads/u/00001',
  'locks/k',
];

export interface Canary {
  readonly root: string;
  /** Whether this file system records reads. Where it does not, a canary only shows changes. */
  readonly seesReads: boolean;
  /** One sentence for each item that was read, listed, changed, added or removed since. */
  findTraces(): string[];
}

/** @param root A folder that is not there yet. */
export function layCanary(root: string): Canary {
  mkdirSync(root);
  for (const name of ['secret', 'sub/secret', CANARY_NAME, `sub/${CANARY_NAME}`, ...TEMPTING]) {
    mkdirSync(join(root, name, '..'), { recursive: true });
    writeFileSync(join(root, name), `${CANARY_SECRET} ${name}`, { mode: 0o600 });
  }
  const names = [...readdirSync(root, { recursive: true, encoding: 'utf8' }), '.'];
  const arm = () => {
    for (const name of names) utimesSync(join(root, name), LONG_AGO_SECONDS, LONG_AGO_SECONDS + 1);
    return new Map(names.map((name) => [name, stateOf(join(root, name))]));
  };
  let before = arm();
  const findTraces = () => {
    const traces: string[] = [];
    for (const [name, state] of before) {
      const now = stateOf(join(root, name));
      if (now !== state) traces.push(`${name}: ${state} became ${now}`);
    }
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
      if (!before.has(name)) traces.push(`${name} was added`);
    // This check itself has listed the folders, so their times are set anew. A missing file is reported each
    // time.
    if (traces.length === 0) before = arm();
    return traces;
  };
  readFileSync(join(root, 'secret'));
  readdirSync(join(root, 'sub'));
  const seesReads = findTraces().length === 2;
  before = arm();
  return { root, seesReads, findTraces };
}

function stateOf(path: string): string {
  try {
    const { atimeNs, ctimeNs, ino, mode, mtimeNs, size } = lstatSync(path, { bigint: true });
    return `inode ${ino} mode ${mode.toString(8)} size ${size} read ${atimeNs} written ${mtimeNs} changed ${ctimeNs}`;
  } catch {
    return 'gone';
  }
}
