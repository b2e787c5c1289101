/**
 * The user's records of peers, by address: certificates (`known-peers.json`) and tokens (`peer-tokens.json`).
 * Each file is beside the settings, readable only by the user, and replaced atomically.
 */
import { fstatSync } from 'node:fs';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { readOpenFile } from '../../base/json-file.ts';
import { replaceFile } from '../../base/replace-file.ts';

export interface PeerRecordFile {
  readonly path: string;
  /** The one field of the file: an object from addresses to texts. */
  readonly field: 'peers' | 'tokens';
  /** For people: "The list of known peers". */
  readonly name: string;
  /** The file holds secrets, so it is refused while others can read it. */
  readonly isSecret: boolean;
}

type Records = Readonly<Record<string, string>>;

/**
 * @throws DrayError `io`; `usage` for a damaged file: treated as empty, it would ask to trust a known peer
 * again.
 */
export function readPeerRecords({ field, isSecret, name, path }: PeerRecordFile): Records {
  let text: string;
  try {
    text = readOpenFile(path, (file) => {
      if (isSecret && isReadByOthers(file)) throw readByOthers(name, path);
    });
  } catch (cause) {
    if (cause instanceof DrayError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return Object.create(null) as Records;
    throw new DrayError('io', `${name}, ${path}, cannot be read.`, { data: { path }, cause });
  }
  try {
    const { [field]: found } = v.parse(
      v.record(v.string(), v.record(v.string(), v.string())),
      JSON.parse(text),
    );
    return Object.assign(Object.create(null) as Records, v.parse(v.record(v.string(), v.string()), found));
  } catch (cause) {
    throw new DrayError('usage', `${name}, ${path}, is damaged. Repair the file, or delete it.`, {
      data: { path },
      cause,
    });
  }
}

/** @param text Undefined: removes it. @throws DrayError `io`, `usage` */
export function keepPeerRecord(file: PeerRecordFile, address: string, text: string | undefined): void {
  const { field, name, path } = file;
  const { [address]: _old, ...others } = readPeerRecords(file);
  const records = text === undefined ? others : { ...others, [address]: text };
  try {
    replaceFile(path, `${JSON.stringify({ [field]: records }, undefined, 2)}\n`, 0o600);
  } catch (cause) {
    throw new DrayError('io', `${name}, ${path}, cannot be written.`, { data: { path }, cause });
  }
}

function isReadByOthers(file: number): boolean {
  return process.platform !== 'win32' && (fstatSync(file).mode & 0o077) !== 0;
}

function readByOthers(name: string, path: string): DrayError {
  return new DrayError(
    'usage',
    `${name}, ${path}, can be read by other users of this machine. Make it yours alone: chmod 600 ${path}`,
    { data: { path } },
  );
}
