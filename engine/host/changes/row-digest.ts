/** A digest that detects a changed list of rows: 32-bit FNV-1a over the shown fields of each row. */
import type { ChangeRow } from '../../api/host/changes.ts';

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

export interface RowDigest {
  add(row: Pick<ChangeRow, 'change' | 'fromPath' | 'path' | 'sizeBytes'>): void;
  read(): number;
}

export function createDigest(): RowDigest {
  let state = OFFSET;
  const addText = (text: string) => {
    for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), PRIME);
  };
  return {
    add({ change, fromPath = '', path, sizeBytes }) {
      addText(change);
      addText(path);
      addText(fromPath);
      state = Math.imul(state ^ sizeBytes, PRIME);
    },
    read: () => state >>> 0,
  };
}
