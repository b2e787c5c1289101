/** Notifies screens that this window has changed files of a workspace, so they scan it again. */
import { useEffect, useState } from 'react';

const listeners = new Set<(root: string) => void>();

export function announceFolderChange(root: string): void {
  for (const listener of listeners) listener(root);
}

/** Increases with each change of the workspace's files by this window. */
export function useFolderChanges(root: string): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const listener = (changed: string) => {
      if (changed === root) setCount((before) => before + 1);
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [root]);
  return count;
}
