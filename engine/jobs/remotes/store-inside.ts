/** Refuses a repository inside its own workspace: each push would store what the previous one wrote. */
import { lstatSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { addIgnoreFile, type IgnoreRules, isIgnored } from '../../files/scan/ignore-rules.ts';
import { IGNORE_FILE_NAME } from '../../model/ignore-file-name.ts';
import type { RemoteUrl } from '../../remotes/remote-url.ts';
import { DRAY_FOLDER } from '../../workspace/workspace-folder.ts';
import { realPathOf } from '../places/places.ts';

/** @throws `usage` when it lies in the workspace's folder and `.drayignore` does not hide it */
export function refuseStoreInside(root: string, url: RemoteUrl): void {
  if (url.kind !== 'file') return;
  const inside = relative(realPathOf(root), realPathOf(url.path));
  if (isAbsolute(inside)) return;
  const parts = inside === '' ? [] : inside.split(sep);
  if (parts[0] === '..' || parts[0] === DRAY_FOLDER || isHidden(root, parts)) return;
  const message = `${url.path} lies inside the workspace ${root} and would store itself. Choose a place outside, or name it in ${IGNORE_FILE_NAME} first.`;
  throw new DrayError('usage', message, { data: { path: url.path, workspace: root } });
}

/** Checks each part of the path from the root down, as a scan does. */
function isHidden(root: string, parts: readonly string[]): boolean {
  let rules: IgnoreRules | undefined;
  let folder = '';
  for (const part of parts) {
    const path = join(root, folder, IGNORE_FILE_NAME);
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile())
      rules = addIgnoreFile(rules, folder, readFileSync(path, 'utf8'));
    folder += `${part}/`;
    if (isIgnored(rules, folder)) return true;
  }
  return false;
}
