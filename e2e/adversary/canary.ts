/**
 * A tree that nobody may read, list or change. The adversary's tests put it beside their target.
 *
 * Access times of the file system show reads. Each one is set to a moment before the item's last change, so
 * that even a file system mounted with `relatime` updates it at the first read (mount(8)).
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const CANARY_SECRET = 'CANARY-THAT-NOBODY-MAY-READ';
/** A name in the canary that no client requests: only a listing of its folder reveals it. */
export const CANARY_NAME = 'only-a-listing-shows-this-name';
const LONG_AGO_SECONDS = 1_000_000_000;
/** Names that look like old temporary files or parts of an upload, so that a sweep would remove them. */
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
  /** Returns one sentence for each item that was read, listed, changed, added or removed since the start. */
  findTraces(): string[];
}

/** @param root A folder that does not exist yet. */
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
    // This check has itself listed the folders, so it sets their times anew. A missing file is reported each
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
