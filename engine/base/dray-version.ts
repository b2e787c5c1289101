import { readFileSync } from 'node:fs';

/** Set by the build, so that the published program does not read a file for its version. */
declare const DRAY_VERSION: string | undefined;

export function readVersion(): string {
  if (typeof DRAY_VERSION === 'string') return DRAY_VERSION;
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return manifest.version;
}
