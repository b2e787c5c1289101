/** Converts paths as a user names them, relative to the command's folder. */
import { relative, resolve, sep } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { Session } from './open-workspace.ts';

/**
 * The path as commits store it, relative to the workspace's root: '' for the root.
 * @throws `usage` when outside
 */
export function toWorkspacePath({ context, workspace }: Session, path: string): string {
  // Only the platform's separator: elsewhere a name may contain a backslash.
  const inside = relative(workspace.root, resolve(context.directory, path)).replaceAll(sep, '/');
  if (inside !== '..' && !inside.startsWith('../')) return inside;
  throw new DrayError('usage', `${path} is not inside the workspace ${workspace.root}.`, { data: { path } });
}
