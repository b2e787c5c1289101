/** A DVC project without Git, and how its commands run in it. */
import { join } from 'node:path';
import type { Command } from '../machines/measure.ts';
import type { Place } from './contender.ts';

/** The folder below a project that DVC tracks as one. */
export const DVC_DATA = 'data';
/** The file that names the project's version; Git would bring it to another machine. */
export const DVC_TRACKED = `${DVC_DATA}.dvc`;
/** DVC's default of 4 a core is slower with many files or through a latency. */
export const DVC_JOBS = ['-j', '32'] as const;

export interface DvcProject {
  readonly folder: string;
  readonly cacheFolder: string;
  readonly place: Place;
}

/** The project in which a place's data were added. Its cache is as new as the place. */
export function dvcProjectOf(place: Place): DvcProject {
  const folder = join(place.cacheFolder, 'project');
  return { folder, cacheFolder: join(place.cacheFolder, 'dvc'), place };
}

/** Lists what the remote lacks of the project's cache. */
export function dvcStatus(path: string, project: DvcProject): Command {
  return runInDvc(path, project, '"$0" status -c --json "$1" "$2"', DVC_JOBS);
}

/**
 * Runs a shell script in the project's folder. Writes the settings before each command, because a place may
 * have another endpoint than before.
 *
 * @param script `$0` is DVC, `$1` the first of `args`.
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
      // Hides the user's settings and the state of other runs.
      DVC_GLOBAL_CONFIG_DIR: join(cacheFolder, 'global'),
      DVC_SYSTEM_CONFIG_DIR: join(cacheFolder, 'system'),
      DVC_SITE_CACHE_DIR: join(cacheFolder, 'site'),
    },
  };
}

/**
 * The settings as `dvc init --no-scm`, `dvc config` and `dvc remote modify` write them. DVC's manual
 * recommends links for large datasets.
 */
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
