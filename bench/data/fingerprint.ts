/**
 * One hash of all paths and contents of a folder, without Dray's own code: the tool under test must not check
 * itself.
 */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

export interface Fingerprint {
  readonly files: number;
  readonly hash: string;
}

const OWN_FOLDERS: readonly string[] = ['.dray', '.dray-peer', '.dray-tmp'];
const BLOCK_BYTES = 1024 * 1024;

/**
 * Ignores Dray's own folders at the top. Times and modes are not part of it, since plain objects have none.
 */
export function fingerprintOf(root: string): Fingerprint {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let files = 0;
  const visit = (folder: string) => {
    const items = readdirSync(join(root, folder), { withFileTypes: true });
    items.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const item of items) {
      if (folder === '' && OWN_FOLDERS.includes(item.name)) continue;
      const path = join(folder, item.name);
      if (item.isDirectory()) visit(path);
      else {
        files += 1;
        hashFile(root, path, hash, block);
      }
    }
  };
  visit('');
  return { files, hash: hash.digest('hex') };
}

/** @throws Error when the folder holds anything else. */
export function checkArrival(folder: string, sent: Fingerprint): void {
  const arrived = fingerprintOf(folder);
  if (arrived.files !== sent.files)
    throw new Error(`${arrived.files} files arrived, and ${sent.files} were sent`);
  if (arrived.hash !== sent.hash) throw new Error('what arrived is not what was sent');
}

function hashFile(root: string, path: string, hash: Hash, block: Buffer): void {
  const file = openSync(join(root, path), 'r');
  try {
    let sizeBytes = 0;
    for (let read = -1; read !== 0; sizeBytes += read) {
      read = readSync(file, block);
      hash.update(block.subarray(0, read));
    }
    // The size follows the content, and the path has an end mark, so that no two trees feed the hash the same
    // bytes.
    hash.update(`\0${sizeBytes}\0${path}\0`);
  } finally {
    closeSync(file);
  }
}
