/** What runs leave on disk is removed. */
import { rm } from 'node:fs/promises';

/** What tools, and the bench itself, keep beside a folder: by its name with these endings. */
const BESIDE = ['.restic-cache', '.dray-cache', '.dray-pristine', '.dvc-project', '.mjs', '.json'];

/** With what is kept beside them. */
export async function clearFolders(...folders: readonly string[]): Promise<void> {
  for (const folder of folders)
    for (const beside of ['', ...BESIDE]) await rm(`${folder}${beside}`, { recursive: true, force: true });
}
