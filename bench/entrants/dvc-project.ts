/** A project of DVC's without Git, and how its commands are run in it. */
import { join } from 'node:path';
import type { Command } from '../machines/measure.ts';
import type { Place } from './contender.ts';

/** Below a project; what is tracked as one. */
export const DVC_DATA = 'data';
/** Names the version that the project has; what Git would bring to another machine. */
export const DVC_TRACKED = `${DVC_DATA}.dvc`;
/** Its default of 4 for each core is slower wherever there are many files or latency. */
export const DVC_JOBS = ['-j', '32'] as const;

export interface DvcProject {
  readonly folder: string;
  readonly cacheFolder: string;
  readonly place: Place;
}

/** Where the data of a place were added. Its cache is as new as the place. */
export function dvcProjectOf(place: Place): DvcProject {
  const folder = join(place.cacheFolder, 'project');
  return { folder, cacheFolder: join(place.cacheFolder, 'dvc'), place };
}

/** Says what of the project's cache the remote lacks. */
export function dvcStatus(path: string, project: DvcProject): Command {
  return runInDvc(path, project, '"$0" status -c --json "$1" "$2"', DVC_JOBS);
}

/**
 * The settings are written before each command: a place may be reached through another endpoint than the time before.
 *
 * @param script Of a shell, in the project's folder; `$0` is DVC, `$1` the first of `args`.
 */
export function runInDvc(
  path: string,
  project: DvcProject,
  script: string,
  args: readonly string[],
): Command {
  const { cacheFolder, folder, place } = project;
  const settings = `mkdir -p "$1/.dvc" && cd "$1" && printf %s "$2" > .dvc/config && shift 2 && ${script}`;
  return {
    file: 'sh',
    args: ['-c', settings, path, folder, settingsOf(project), ...args],
    environment: {
      ...place.environment,
      AWS_DEFAULT_REGION: place.region,
      DVC_NO_ANALYTICS: '1',
      // Nothing of the user's, and nothing that it remembers of another run.
      DVC_GLOBAL_CONFIG_DIR: join(cacheFolder, 'global'),
      DVC_SYSTEM_CONFIG_DIR: join(cacheFolder, 'system'),
      DVC_SITE_CACHE_DIR: join(cacheFolder, 'site'),
    },
  };
}

/** As `dvc init --no-scm`, `dvc config` and `dvc remote modify` write them. Its manual advises links for large datasets. */
function settingsOf({ cacheFolder, place }: DvcProject): string {
  return `[core]
    no_scm = True
    check_update = False
    remote = bench
[cache]
    dir = ${cacheFolder}
    type = "reflink,hardlink,copy"
['remote "bench"']
    url = s3://${place.bucket}/${place.prefix}
    endpointurl = ${place.endpoint}
`;
}
