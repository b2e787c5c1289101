/** Lists a local place, for commands that only read it. */
import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { localPlaceKind, statLocal } from '../../files/scan/local-place.ts';
import { scanLocalTree } from '../../files/scan/local-tree.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { nothingThere } from '../places/open-side.ts';
import { type LocalPlace, nameOfPlace } from '../places/places.ts';
import { reportFailure, type TreeCounts } from './copy-run.ts';

export interface LocalLook {
  readonly context: JobContext;
  readonly place: LocalPlace;
  readonly filter: TreeFilter;
  /** Counts what cannot be read, after reporting it. */
  readonly counts: TreeCounts;
  /** If given, it gets the folders of the first level (each ends in `/`), and nothing below them is read. */
  readonly onFolder?: (path: string) => void;
  readonly onLink?: (path: string) => void;
}

/**
 * The files of a folder in order, or the one file that the place is.
 * @throws `notFound`, `usage` for anything else
 */
export async function* localItems(look: LocalLook): AsyncGenerator<readonly TreeItem[]> {
  const { place } = look;
  const path = followLink(place.path);
  switch (localPlaceKind(path)) {
    case 'folder':
      yield* folderItems(look);
      return;
    case 'file': {
      const item = statLocal(dirname(path), basename(path));
      if (typeof item !== 'object') throw nothingThere(place.text);
      const named = { ...item, path: nameOfPlace(place) };
      if (look.filter.includes(named)) yield [named];
      return;
    }
    case 'absent':
      throw nothingThere(place.text);
    case 'other':
      throw new DrayError('usage', `${place.text} is neither a file nor a folder.`);
  }
}

/** Follows a link that the user named. */
export function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function folderItems({ context, counts, filter, onFolder, onLink, place }: LocalLook) {
  return scanLocalTree({
    root: place.path,
    enter: (folder) => {
      if (!filter.mayContain(folder)) return false;
      onFolder?.(folder);
      return onFolder === undefined;
    },
    includes: (item) => filter.includes(item),
    nowMs: systemClock.nowMs(),
    signal: context.signal,
    onProblem: ({ message, path, problem }) => {
      if (problem === 'link') onLink?.(path);
      else if (problem === 'unreadable' || problem === 'notUtf8')
        reportFailure({ context, counts }, path, new DrayError('io', message, { data: { path } }));
    },
  });
}
