/** Paths as a user names them: relative to where the command runs. */
import { relative, resolve, sep } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { Session } from './session.ts';

/** As commits have it, relative to the workspace's root: '' for the root. @throws `usage` for one that is not inside. */
export function toWorkspacePath({ context, workspace }: Session, path: string): string {
  // Only where it parts folders: elsewhere a name may hold it.
  const inside = relative(workspace.root, resolve(context.directory, path)).replaceAll(sep, '/');
  if (inside !== '..' && !inside.startsWith('../')) return inside;
  throw new DrayError('usage', `${path} is not inside the workspace ${workspace.root}.`, { data: { path } });
}
