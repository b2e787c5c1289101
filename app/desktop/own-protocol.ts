/**
 * `dray-app://window/`: serves the built window and nothing else. The files are listed once, when the app
 * starts, and only a listed name is served: no path of a request reaches the disk, so none can leave the
 * folder. A scheme of our own, because a `file:` page may read every file of the disk.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PAGE_HEADERS, pageTypeOf } from '../../engine/host/window-page.ts';
import type { Electron } from './electron-parts.ts';
import { isOwnUrl, OWN_SCHEME } from './own-origin.ts';

const FILES_MAX = 500;

/** The page reaches the engine through a port, not a connection. */
const HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' } as const;

/** Must run before the app is ready. */
export function registerOwnScheme({ protocol }: Pick<Electron, 'protocol'>): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: OWN_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/** @param folder The built window. @throws If it does not exist. */
export function serveOwnScheme({ protocol }: Pick<Electron, 'protocol'>, folder: string): void {
  const files = listFiles(folder);
  if (!files.has('/index.html')) throw new Error(`${folder} holds no built window.`);
  protocol.handle(OWN_SCHEME, (request) => answer(request, files));
}

async function answer(
  request: Pick<Request, 'method' | 'url'>,
  files: ReadonlyMap<string, string>,
): Promise<Response> {
  if (!isOwnUrl(request.url)) return refuse(404);
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
  const { pathname } = new URL(request.url);
  const path = files.get(pathname);
  if (path === undefined) return refuse(404);
  const headers = { ...HEADERS, 'content-type': pageTypeOf(path) };
  return new Response(request.method === 'HEAD' ? null : new Uint8Array(await readFile(path)), { headers });
}

function refuse(status: number): Response {
  return new Response(null, { status, headers: HEADERS });
}

/**
 * Only plain files (no links), by the path of their URL. Lists folder by folder, because listing an archive
 * does not support `recursive`.
 */
function listFiles(root: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const visit = (folder: string, urlPath: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }) as Dirent[]) {
      const path = join(folder, entry.name);
      const url = `${urlPath}/${encodeURIComponent(entry.name)}`;
      if (entry.isDirectory()) visit(path, url);
      else if (entry.isFile() && !entry.name.endsWith('.br')) files.set(url, path);
      if (files.size > FILES_MAX) throw new Error(`${root} holds too many files to be a built window.`);
    }
  };
  visit(root, '');
  return files;
}
