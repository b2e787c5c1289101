/** Finds the built window. In a clone, builds it when it is missing or older than its sources. */
import { fileURLToPath } from 'node:url';

export interface FindWindowOptions {
  /** Called before a build, which takes some seconds. */
  readonly onBuild: () => void;
}

export async function findWindowFolder({ onBuild }: FindWindowOptions): Promise<string> {
  // The published command is JavaScript, with the window beside it.
  if (!import.meta.url.endsWith('.ts')) return fileURLToPath(new URL('./window/', import.meta.url));
  const folder = fileURLToPath(new URL('../../dist/window', import.meta.url));
  // Not a literal import: the command's bundle must not contain the bundler.
  const builder: string = '../build/build-window.ts';
  const { buildWindow, whyStale } = await import(builder);
  if (whyStale(folder) === undefined) return folder;
  onBuild();
  await buildWindow(folder);
  return folder;
}
