import { type Command, Option } from 'commander';
import type { ConflictSide } from '../../../engine/api/jobs/jobs.ts';

/** How conflicts are decided. */
export interface SideOptions {
  readonly theirs?: true;
  readonly ours?: true;
  readonly both?: true;
}

export function addSideOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--theirs', "on a conflict, take theirs: the remote's version").conflicts(['ours', 'both']),
    )
    .addOption(new Option('--ours', 'on a conflict, keep mine: the local version').conflicts('both'))
    .addOption(new Option('--both', 'on a conflict, keep both: mine gets a second name'));
}

export function chooseSide({ both, theirs, ours }: SideOptions): ConflictSide | undefined {
  if (both) return 'both';
  if (theirs) return 'theirs';
  return ours ? 'ours' : undefined;
}
