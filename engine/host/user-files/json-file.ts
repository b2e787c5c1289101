/**
 * Small files of the user's own, replaced atomically. Their content is validated; a damaged file is set aside
 * and started again.
 */
import { readFileSync, renameSync } from 'node:fs';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { replaceFile } from '../../base/replace-file.ts';

const PRIVATE_MODE = 0o600;

/** Undefined if there is none, or it is invalid. @throws `io` */
export function readJsonFile<S extends v.GenericSchema>(
  path: string,
  schema: S,
): v.InferOutput<S> | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new DrayError('io', `${path} cannot be read.`, { data: { path }, cause });
  }
  try {
    return v.parse(schema, JSON.parse(text));
  } catch {
    renameSync(path, `${path}.damaged`);
    return undefined;
  }
}

/** Only this user may read the file, because it contains paths, places and messages. @throws `io` */
export function writeJsonFile(path: string, value: unknown): void {
  try {
    replaceFile(path, `${JSON.stringify(value, undefined, 2)}\n`, PRIVATE_MODE);
  } catch (cause) {
    throw new DrayError('io', `${path} cannot be written.`, { data: { path }, cause });
  }
}
