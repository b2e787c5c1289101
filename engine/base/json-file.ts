/**
 * Small files of the user's own, replaced atomically. Their content is validated; a damaged file is set aside
 * and started again, unless its reader decides otherwise.
 */
import { closeSync, fstatSync, openSync, readFileSync, renameSync, type Stats } from 'node:fs';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import { replaceFile } from './replace-file.ts';

const PRIVATE_MODE = 0o600;

export interface ReadJsonOptions {
  /** Throws if the file must not be read. */
  readonly check?: (path: string, stats: Stats) => void;
  /** Default: the file is set aside, and counts as none. */
  readonly onDamaged?: (path: string, cause: unknown) => undefined;
}

/** Undefined if there is none, or it is invalid. @throws `io`, and what the options throw */
export function readJsonFile<S extends v.GenericSchema>(
  path: string,
  schema: S,
  { check = () => {}, onDamaged = setAside }: ReadJsonOptions = {},
): v.InferOutput<S> | undefined {
  let text: string;
  try {
    text = readOpenFile(path, (file) => check(path, fstatSync(file)));
  } catch (cause) {
    if (cause instanceof DrayError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new DrayError('io', `${path} cannot be read.`, { data: { path }, cause });
  }
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (cause) {
    return onDamaged(path, cause);
  }
}

/** The text of a file. `check` gets the open file, because its name may lead to another one by now. */
export function readOpenFile(path: string, check: (file: number) => void): string {
  const file = openSync(path, 'r');
  try {
    check(file);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function setAside(path: string): undefined {
  renameSync(path, `${path}.damaged`);
}

/** Only this user may read the file, because it contains paths, places and messages. @throws `io` */
export function writeJsonFile(path: string, value: unknown): void {
  try {
    replaceFile(path, `${JSON.stringify(value, undefined, 2)}\n`, PRIVATE_MODE);
  } catch (cause) {
    throw new DrayError('io', `${path} cannot be written.`, { data: { path }, cause });
  }
}
