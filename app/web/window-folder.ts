/** Finds the built window. In a clone of the project it may not be built yet; then this builds it once. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface FindWindowOptions {
  /** Called before a build, which takes some seconds. */
  readonly onBuild: () => void;
}

export async function findWindowFolder({ onBuild }: FindWindowOptions): Promise<string> {
  // The published command is JavaScript, with the window beside it.
  if (!import.meta.url.endsWith('.ts')) return fileURLToPath(new URL('./window/', import.meta.url));
  const folder = fileURLToPath(new URL('../../dist/window', import.meta.url));
  if (existsSync(join(folder, 'index.html'))) return folder;
  onBuild();
  // Not a literal import: the command's bundle must not contain the bundler.
  const builder: string = '../build/build-window.ts';
  const { buildWindow } = await import(builder);
  await buildWindow(folder);
  return folder;
}
