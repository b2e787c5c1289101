/** `dray fleet`: one job by many machines, which Temporal coordinates. */
import type { Command } from 'commander';
import type { CommandHost } from '../../command-host.ts';
import { addFleetControls } from './fleet-controls.ts';
import { addFleetPush } from './fleet-push.ts';
import { addFleetStarts } from './fleet-starts.ts';
import { addFleetVerify } from './fleet-verify.ts';
import { addFleetWorker } from './fleet-worker.ts';

export function addFleetCommand(program: Command, host: CommandHost): void {
  const fleet = program
    .command('fleet')
    .summary('copy, sync, check, push and verify with many machines')
    .description(
      'Copies, syncs or checks two buckets with many machines, stores a bucket as a commit of a repository, or verifies one. "dray fleet worker" runs on each of them. A Temporal server keeps the state of the jobs, so the workers and the server may stop at any time and continue later. Needs the npm packages of Temporal.',
    )
    .usage('[options] <command>')
    .enablePositionalOptions();
  addFleetStarts(fleet, host);
  addFleetPush(fleet, host);
  addFleetVerify(fleet, host);
  addFleetWorker(fleet, host);
  addFleetControls(fleet, host);
}
