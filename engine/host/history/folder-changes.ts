/** Sums the changes between two commits for each folder of one level. */
import type { ChangeRow } from '../../api/host/changes.ts';
import type { FolderChanges } from '../../api/host/history.ts';
import type { AnswerOf } from '../../api/host.ts';

const FOLDERS_MAX = 1_000;
const ROWS_MAX = 500;

export interface FolderSums {
  add(row: ChangeRow): void;
  readonly answer: AnswerOf<'history.folders'>;
}

type Sum = { -readonly [N in keyof FolderChanges]: FolderChanges[N] };

/** @param folder '' or a path that ends in a slash. The rows come in the order of their paths. */
export function createFolderSums(folder: string): FolderSums {
  const sums = new Map<string, Sum>();
  const rows: ChangeRow[] = [];
  let isCut = false;
  return {
    add(row) {
      const { change, kind, path, sizeBytes } = row;
      if (!path.startsWith(folder) || path === folder) return;
      const end = path.indexOf('/', folder.length);
      if (end < 0) {
        if (rows.length < ROWS_MAX) rows.push(row);
        else isCut = true;
        return;
      }
      const name = path.slice(folder.length, end + 1);
      let sum = sums.get(name);
      if (!sum) {
        isCut ||= sums.size === FOLDERS_MAX;
        if (sums.size === FOLDERS_MAX) return;
        sum = { name, added: 0, modified: 0, deleted: 0, renamed: 0, other: 0, bytes: 0 };
        sums.set(name, sum);
      }
      const counted = isCounted(change) ? change : 'other';
      sum[counted] += 1;
      if (kind === 'file' && (change === 'added' || change === 'modified')) sum.bytes += sizeBytes;
    },
    get answer() {
      return { folders: [...sums.values()], rows, isCut };
    },
  };
}

const COUNTED = ['added', 'modified', 'deleted', 'renamed'] as const;

function isCounted(change: ChangeRow['change']): change is (typeof COUNTED)[number] {
  return (COUNTED as readonly string[]).includes(change);
}
