/** Recognizes the refusal of a workspace that belongs to another user. */
import type { Failed } from './failed.ts';

export interface ForeignFolder {
  /** The workspace. */
  readonly root: string;
  /** The path that belongs to the other user: its `.dray`, or a file in it. */
  readonly path: string;
  /** The number of its owner. */
  readonly owner: number;
  /** Absent if this computer does not know one. */
  readonly ownerName?: string;
}

export function foreignFolderOf({ data = {} }: Failed): ForeignFolder | undefined {
  const { owner, ownerName, path, reason, root } = data;
  if (reason !== 'foreignFolder' || typeof root !== 'string') return undefined;
  if (typeof path !== 'string' || typeof owner !== 'number') return undefined;
  return { root, path, owner, ...(typeof ownerName === 'string' ? { ownerName } : {}) };
}

export function ownerWords({ owner, ownerName }: Pick<ForeignFolder, 'owner' | 'ownerName'>): string {
  return ownerName === undefined ? `another user (number ${owner})` : `${ownerName} (user ${owner})`;
}
