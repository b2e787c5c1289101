/** Files from the desktop on their way to a place. In the desktop app they are copied by path; in a browser they stream through the page. */
import { useRef, useState } from 'react';
import type { DropItem } from 'react-aria-components';
import { useRefresh } from '../../host/use-host.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { type DropProgress, postDropped, sendDropped } from './drop-queue.ts';
import { type Location, placeOf } from './places.ts';
import { walkDropped } from './walk-dropped.ts';

const NOTHING_YET: DropProgress = {
  filesDone: 0,
  bytesDone: 0,
  isOver: false,
  isStopped: false,
  filesFailed: 0,
  failures: [],
};

export interface Drops {
  readonly progress: DropProgress | undefined;
  readonly drop: (items: readonly DropItem[], into: Location) => Promise<void>;
  readonly stop: () => void;
  /** Takes the finished one's report away. */
  readonly dismiss: () => void;
}

export function useDrops(): Drops {
  const [progress, setProgress] = useState<DropProgress>();
  const control = useRef<AbortController>(undefined);
  const refresh = useRefresh();
  const start = useStartTransfers();

  const drop = async (items: readonly DropItem[], into: Location): Promise<void> => {
    const paths = await desktopPaths(items);
    if (paths) {
      const destination = placeOf(into);
      await start(
        'What you dropped will be copied',
        paths.map((source) => ({ kind: 'copy', source, destination })),
      );
      return;
    }
    control.current?.abort();
    const own = new AbortController();
    control.current = own;
    const onProgress = (next: DropProgress): void => {
      if (control.current === own) setProgress(next);
    };
    onProgress(NOTHING_YET);
    await sendDropped(walkDropped(items), {
      send: postDropped(placeOf(into)),
      onProgress,
      signal: own.signal,
    });
    await refresh('browse.list');
  };
  return {
    progress,
    drop,
    stop: () => control.current?.abort(),
    dismiss: () => setProgress(undefined),
  };
}

/** Undefined where the window cannot know paths (a browser), or where a folder is among them: folders carry none. */
async function desktopPaths(items: readonly DropItem[]): Promise<readonly string[] | undefined> {
  const bridge = window.dray;
  if (!bridge) return undefined;
  const paths: string[] = [];
  for (const item of items) {
    if (item.kind !== 'file') return undefined;
    const path = bridge.pathOf(await item.getFile());
    if (path === '') return undefined;
    paths.push(path);
  }
  return paths;
}
