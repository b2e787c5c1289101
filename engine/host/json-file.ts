/** Small files of the user's own, replaced in one step. What they hold is checked; a damaged one is set aside and begun anew. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';

/** Undefined when there is none, or none that makes sense. @throws `io` */
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

/** @throws `io` */
export function writeJsonFile(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, `${JSON.stringify(value, undefined, 2)}\n`, { flush: true });
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new DrayError('io', `${path} cannot be written.`, { data: { path }, cause });
  }
}
