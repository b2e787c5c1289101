/** Makes a change of each kind for `status` to report. */
import { appendFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the changes as the commands that a user would have typed. */
export async function makeChanges(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('.dray') && !/\s|'/.test(path))
    .sort();
  const done: string[] = [];
  const [edited, removed, moved] = files;
  await writeFile(join(folder, 'added.txt'), 'A new file.\n');
  done.push("echo 'A new file.' > added.txt");
  if (edited !== undefined) {
    await appendFile(join(folder, edited), 'One more line.\n');
    done.push(`echo 'One more line.' >> ${edited}`);
  }
  if (removed !== undefined) {
    await rm(join(folder, removed));
    done.push(`rm ${removed}`);
  }
  if (moved !== undefined) {
    await rename(join(folder, moved), join(folder, `${moved}.moved`));
    done.push(`mv ${moved} ${moved}.moved`);
  }
  return done;
}
