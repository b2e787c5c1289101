/**
 * Modes and times of a peer's folders, many per request: read and written like small files, under paths that
 * end in a slash.
 */
import { receivedError } from '../../api/error.ts';
import type { FolderCalls, FolderToSet } from '../file-calls.ts';
import type { PeerClient } from './peer-client.ts';
import { readPeerFiles, writePeerFiles } from './peer-files.ts';

/** @param below A folder of the peer's, '' for the served folder. */
export function createPeerFolders(client: PeerClient, below: string): FolderCalls {
  const never = new AbortController().signal;
  const root = below === '' ? '' : `${below}/`;
  const itemOf = ({ key, mode, mtimeNs }: FolderToSet) =>
    ({
      kind: 'folder',
      path: root + key,
      ...(mode === undefined ? {} : { mode }),
      ...(mtimeNs === undefined ? {} : { mtimeNs: mtimeNs.toString() }),
    }) as const;
  return {
    isRootTheirs: below === '',
    async read(keys, { signal = never }) {
      // The served folder has no name of its own.
      const paths = keys.map((key) => root + key || '/');
      const { results } = await readPeerFiles(client, { paths }, signal);
      return keys.map((_, at) => {
        const result = results[at];
        if (!result || 'error' in result) return undefined;
        return { mode: result.mode, mtimeNs: BigInt(result.mtimeNs) };
      });
    },
    async set(folders, { signal = never }) {
      const results = await writePeerFiles(client, { items: folders.map(itemOf), contents: [] }, signal);
      return results.map((result) => ('error' in result ? receivedError(result.error) : undefined));
    },
  };
}
