/**
 * Parts of datasets that workspaces hold, for those who see only their files. A path outside of a part may be
 * missing there although nobody deleted it.
 */
import { checkScopePatterns, compileScope, type Scope } from './scope.ts';

export interface HeldPart {
  /** The workspace's folder, below what is listed: '' or ending in `/`. */
  readonly folder: string;
  /** What is listed, below the workspace's folder: '' or ending in `/`. */
  readonly below: string;
  /** Patterns of `scope.ts`. Null: unknown. */
  readonly only: readonly string[] | null;
}

export interface HeldParts {
  readonly isEmpty: boolean;
  add(part: HeldPart): void;
  /** Whether the path, below what is listed, is outside of a part that a workspace around it holds. */
  isOutside(path: string): boolean;
}

/** A part that was added twice, before and after a change of its patterns, holds what both hold. */
export function createHeldParts(): HeldParts {
  const parts = new Map<string, HeldPart & { readonly scope: Scope | undefined }>();
  return {
    get isEmpty() {
      return parts.size === 0;
    },
    add(part) {
      const name = JSON.stringify([part.folder, part.below, part.only]);
      if (!parts.has(name)) parts.set(name, { ...part, scope: scopeOfPart(part) });
    },
    isOutside(path) {
      for (const { below, folder, scope } of parts.values())
        if (path.startsWith(folder) && !scope?.holds(below + path.slice(folder.length))) return true;
      return false;
    },
  };
}

/** Another machine may send anything. */
function scopeOfPart({ only }: HeldPart): Scope | undefined {
  if (!only) return undefined;
  try {
    checkScopePatterns(only);
    return compileScope(only);
  } catch {
    return undefined;
  }
}
