import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fleet } from './open-fleet.ts';

/** The names below two prefixes of the bucket that differ, without a fleet's own documents. */
export function differences({ s3 }: Fleet, left: string, right: string): string[] {
  const one = namesBelow(join(s3.dataFolder, s3.bucket, left));
  const other = namesBelow(join(s3.dataFolder, s3.bucket, right));
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => one.get(name) !== other.get(name));
}

function namesBelow(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    files
      .filter((path) => !path.includes('.dray-fleet'))
      .map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]),
  );
}
