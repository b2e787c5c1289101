/**
 * DVC: a repository of data, here without Git. A push takes two of its commands: `add` hashes the folder into
 * the cache, and `push` sends what the remote lacks. A clone is a `pull` beside the small file that Git would
 * have brought.
 */
import { join } from 'node:path';
import type { Command } from '../machines/measure.ts';
import type { InstalledPeer } from '../machines/peers.ts';
import type { Contender, Place } from './contender.ts';
import { DVC_DATA, DVC_JOBS, DVC_TRACKED, dvcProjectOf, runInDvc } from './dvc-project.ts';
import { createDvcQuery } from './dvc-query.ts';

export function createDvc({ path, version }: InstalledPeer<string>): Contender {
  // Hashes new and changed files and sends what the remote lacks.
  const push = (_source: string, place: Place): Command =>
    runInDvc(path, dvcProjectOf(place), `"$0" add -q ${DVC_DATA} && "$0" push -q "$1" "$2"`, DVC_JOBS);
  return {
    name: 'dvc',
    version,
    isPlain: false,
    // Copies the source first: DVC tracks files in its project only, and all tools share the source.
    prepareUpload: (source, place) => {
      const { folder } = dvcProjectOf(place);
      const copy = 'mkdir -p "$2" && cp -Rp "$1" "$2/$3"';
      return {
        file: 'sh',
        args: ['-c', copy, 'sh', source, folder, DVC_DATA],
        environment: place.environment,
      };
    },
    upload: push,
    uploadAgain: push,
    download: (place, folder) => pullInto(path, place, folder, ''),
    // Moves the folder back to DVC's place for the time of the pull.
    update: (place, folder) => pullInto(path, place, folder, `mv "$2" ${DVC_DATA} && `),
    workspaceOf: (_source, place) => join(dvcProjectOf(place).folder, DVC_DATA),
    query: createDvcQuery(path),
  };
}

/** Pulls into a folder of any name, beside the project that owns its data. */
function pullInto(path: string, place: Place, folder: string, before: string): Command {
  const project = `${folder}.dvc-project`;
  const clone = { folder: project, cacheFolder: join(project, 'cache'), place };
  const script = `${before}cp "$1" ${DVC_TRACKED} && "$0" pull -q "$3" "$4" && mv ${DVC_DATA} "$2"`;
  return runInDvc(path, clone, script, [join(dvcProjectOf(place).folder, DVC_TRACKED), folder, ...DVC_JOBS]);
}
