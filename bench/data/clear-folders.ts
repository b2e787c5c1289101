/** Removes what runs leave on disk. */
import { rm } from 'node:fs/promises';

/** The endings of what tools and the bench keep beside a folder. */
const BESIDE = ['.restic-cache', '.dray-cache', '.dray-pristine', '.dvc-project', '.mjs', '.json'];

/** Removes the folders and what is kept beside them. */
export async function clearFolders(...folders: readonly string[]): Promise<void> {
  for (const folder of folders)
    for (const beside of ['', ...BESIDE]) await rm(`${folder}${beside}`, { recursive: true, force: true });
}
