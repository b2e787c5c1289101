/**
 * Pins the tested versions for users of the package. Makes `npm-shrinkwrap.json` from the lock file when the
 * package is packed. Removes it afterwards, because npm would use it as this project's own lock file.
 *
 *     node app/build/shrinkwrap.ts writes it (`prepack`)
 *     node app/build/shrinkwrap.ts --remove removes it (`postpack`)
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface LockFile {
  readonly name: string;
  readonly version: string;
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  /** True when only development needs it. */
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * The lock file without development packages and without the addresses of registries. @throws Error for a
 * version range.
 */
export function runtimeLock({ lockfileVersion, name, packages, version }: LockFile): LockFile {
  const { '': project, ...all } = packages;
  const { devDependencies: _, ...own } = project ?? {};
  for (const [dependency, wanted] of Object.entries(own.dependencies ?? {}))
    if (wanted !== packages[`node_modules/${dependency}`]?.version)
      throw new Error(`package.json asks for ${dependency} ${wanted}: name the version of the lock file.`);
  const kept = Object.entries(all)
    .filter(([, { dev }]) => !dev)
    .map(([path, { resolved: __, ...entry }]) => [path, entry] as const);
  return { name, version, lockfileVersion, packages: { '': own, ...Object.fromEntries(kept) } };
}

if (import.meta.main) {
  const at = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const path = at('npm-shrinkwrap.json');
  if (process.argv.includes('--remove')) rmSync(path, { force: true });
  else {
    const lock = runtimeLock(JSON.parse(readFileSync(at('package-lock.json'), 'utf8')) as LockFile);
    writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);
  }
}
