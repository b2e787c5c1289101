/**
 * DVC: a repository of data, here without Git. What Dray calls a push are two commands of its: `add` hashes the folder and
 * brings it into the cache, `push` sends what of the cache the remote lacks; a clone is a `pull` beside the small file that
 * Git would have brought.
 */
import { join } from 'node:path';
import type { Command } from '../machines/measure.ts';
import type { InstalledPeer } from '../machines/peers.ts';
import type { Contender, Place } from './contender.ts';
import { DVC_DATA, DVC_JOBS, DVC_TRACKED, dvcProjectOf, runInDvc } from './dvc-project.ts';
import { createDvcQuery } from './dvc-query.ts';

export function createDvc({ path, version }: InstalledPeer<string>): Contender {
  // Hashes what is new or has changed, and sends what the remote lacks.
  const push = (_source: string, place: Place): Command =>
    runInDvc(path, dvcProjectOf(place), `"$0" add -q ${DVC_DATA} && "$0" push -q "$1" "$2"`, DVC_JOBS);
  return {
    name: 'dvc',
    version,
    isPlain: false,
    // By a copy: DVC tracks what lies in its project, and the source is of all tools.
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
    // Back to where DVC knows it, for as long as it takes.
    update: (place, folder) => pullInto(path, place, folder, `mv "$2" ${DVC_DATA} && `),
    workspaceOf: (_source, place) => join(dvcProjectOf(place).folder, DVC_DATA),
    query: createDvcQuery(path),
  };
}

/** A folder of any name, beside which lies the project that it is the data of. */
function pullInto(path: string, place: Place, folder: string, before: string): Command {
  const project = `${folder}.dvc-project`;
  const clone = { folder: project, cacheFolder: join(project, 'cache'), place };
  const script = `${before}cp "$1" ${DVC_TRACKED} && "$0" pull -q "$3" "$4" && mv ${DVC_DATA} "$2"`;
  return runInDvc(path, clone, script, [join(dvcProjectOf(place).folder, DVC_TRACKED), folder, ...DVC_JOBS]);
}
