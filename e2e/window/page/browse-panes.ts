/** Browse in a real window: this computer on the left, a bucket of a real store on the right. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Locator } from 'playwright';
import { writeUserRemotes } from '../../../engine/jobs/session/user-remotes.ts';
import type { S3Server } from '../../servers/versitygw.ts';
import { type OpenWindow, type OpenWindowOptions, openWindow } from '../open-window.ts';

/** Contents by path; a folder's path ends in a slash. */
export type Tree = Readonly<Record<string, string | Uint8Array>>;

export interface BrowsePanes extends OpenWindow {
  /** The folder that the left pane opens. */
  readonly home: string;
  /** The store's folder with the objects of the right pane as plain files. */
  readonly bucketFolder: string;
  readonly left: Locator;
  readonly right: Locator;
  /** Finds a row by its name. */
  row(pane: Locator, name: string): Locator;
  /** The names of the drawn rows, in order. */
  names(pane: Locator): Promise<readonly string[]>;
}

export interface BrowseOptions extends OpenWindowOptions {
  readonly server: S3Server;
  readonly bucket: string;
  /** Made by an earlier window. */
  readonly isBucketThere?: boolean;
  readonly local?: Tree;
  readonly remote?: Tree;
}

/** Creates the bucket and registers it as the remote `store`. */
export async function openBrowse(
  browser: Browser,
  { bucket, isBucketThere, local = {}, remote = {}, server, ...options }: BrowseOptions,
): Promise<BrowsePanes> {
  if (!isBucketThere) await server.createBucket(bucket);
  const environment = { ...server.environment, ...options.environment };
  const bucketFolder = join(server.dataFolder, bucket);
  writeTree(bucketFolder, remote);
  const prepare = (home: string) => {
    writeTree(home, local);
    const own = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
    mkdirSync(join(home, '.config/dray'), { recursive: true });
    writeUserRemotes({ environment: own }, { store: { url: `s3://${bucket}` } });
  };
  const window = await openWindow(browser, { ...options, environment, prepare, path: '/#/browse' });
  try {
    const { folder, page } = window;
    const home = join(folder, 'home');
    const left = page.getByRole('region', { name: /^Left pane/ });
    const right = page.getByRole('region', { name: /^Right pane/ });
    await right.getByRole('grid').waitFor();
    return {
      ...window,
      home,
      bucketFolder,
      left,
      right,
      row: (pane, name) => pane.getByRole('row').filter({ has: page.getByText(name, { exact: true }) }),
      names: (pane) => pane.locator('.entry-text').allTextContents(),
    };
  } catch (error) {
    await window[Symbol.asyncDispose]();
    throw error;
  }
}

/** The names of the chosen rows. */
export function chosenIn(pane: Locator): Promise<readonly string[]> {
  return pane.locator('[role=row][aria-selected=true] .entry-text').allTextContents();
}

export function writeTree(root: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree)) {
    const full = join(root, path);
    mkdirSync(path.endsWith('/') ? full : dirname(full), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(full, content);
  }
}
