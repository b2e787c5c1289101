/** The command line as a tree: every command, its options and its help. */
import { Command, Help } from 'commander';
import { readVersion } from '../../engine/base/dray-version.ts';
import type { CommandHost } from './command-host.ts';
import { addForgetCommand } from './commands/care/forget.ts';
import { addCollectCommand } from './commands/care/gc.ts';
import { addKeyCommand } from './commands/care/key.ts';
import { addRepairCommand } from './commands/care/repair.ts';
import { addUpgradeCommand } from './commands/care/upgrade.ts';
import { addVerifyCommand } from './commands/care/verify.ts';
import { addCloneCommand } from './commands/clone.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConfigCommand } from './commands/config.ts';
import { addDiffCommand } from './commands/diff.ts';
import { addFleetCommand } from './commands/fleet/fleet.ts';
import { addImportCommand } from './commands/import.ts';
import { addInitCommand } from './commands/init.ts';
import { addKeptCommand } from './commands/kept.ts';
import { addLogCommand } from './commands/log.ts';
import { addLoginCommand, addLogoutCommand } from './commands/login.ts';
import { addMergeCommand, addRevertCommand } from './commands/merge.ts';
import { addCheckCommand } from './commands/places/check.ts';
import { addCopyCommand, addExportCommand, addSyncCommand } from './commands/places/copy.ts';
import { addDeltaCommand } from './commands/places/delta.ts';
import { addListTreeCommand } from './commands/places/list-tree.ts';
import { addCatCommand, addRemoveCommand, addUsageCommand } from './commands/places/objects.ts';
import { addUploadsCommand } from './commands/places/uploads.ts';
import { addPullCommand } from './commands/pull.ts';
import { addPushCommand } from './commands/push.ts';
import { addBranchCommand, addTagCommand } from './commands/refs.ts';
import { addRemoteCommand } from './commands/remote.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addJobCommand } from './commands/saved/job.ts';
import { addScopeCommand } from './commands/scope.ts';
import { addGatewayCommand } from './commands/servers/gateway.ts';
import { addServeCommand } from './commands/servers/serve.ts';
import { addUiCommand } from './commands/servers/ui.ts';
import { addStatusCommand } from './commands/status.ts';
import { addSwitchCommand } from './commands/switch.ts';
import { addWatchCommand } from './commands/watch.ts';
import { addGlobalOptions, valuedGlobalOptions } from './options/global-options.ts';
import { writeAsIs } from './output/terminal.ts';

const CLOSING_HELP = `
Exit codes:
  0    done
  1    failed
  2    the command line or a setting is invalid
  3    differences were found (check; diff and status with --exit-code)
  4    some files failed, all others are done
  5    conflict: both sides changed the same thing, nothing was changed
  130  stopped by Ctrl-C (143: by SIGTERM)

Environment:
  AWS_*                        keys, profile, region, endpoint and CA bundle, as the AWS CLI has them
  DRAY_TOKEN, DRAY_TOKEN_FILE  the token of a dray:// URL on the command line, or the file that holds it
  DRAY_TOKEN_HOST              send the token only to this HOST:PORT, also for remotes by name
  DRAY_AUTHOR                  the author of commits
  DRAY_CONFIG                  the file of your own settings; others of them lie beside it
  DRAY_CACHE                   the folder of what copies remember

Examples:
  dray init --remote s3://bucket/datasets/birds    make this folder a workspace
  dray push -m "first 2,000 recordings"            store it as a commit
  dray clone s3://bucket/datasets/birds            get it on another machine
  dray copy photos s3://bucket/photos              plain files, no repository
  dray help push                                   help for one command`;

type AddCommand = (program: Command, host: CommandHost) => void;

/** By the headings of the help, in the order of the help. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, AddCommand>>>> = {
  'Start:': { init: addInitCommand, clone: addCloneCommand, import: addImportCommand, ui: addUiCommand },
  'Every day:': {
    status: addStatusCommand,
    diff: addDiffCommand,
    push: addPushCommand,
    pull: addPullCommand,
    restore: addRestoreCommand,
    scope: addScopeCommand,
    kept: addKeptCommand,
  },
  'History:': {
    log: addLogCommand,
    ls: addListTreeCommand,
    tag: addTagCommand,
    branch: addBranchCommand,
    switch: addSwitchCommand,
    merge: addMergeCommand,
    revert: addRevertCommand,
  },
  'Plain files and objects:': {
    copy: addCopyCommand,
    sync: addSyncCommand,
    export: addExportCommand,
    check: addCheckCommand,
    cat: addCatCommand,
    du: addUsageCommand,
    rm: addRemoveCommand,
    uploads: addUploadsCommand,
    serve: addServeCommand,
    gateway: addGatewayCommand,
    delta: addDeltaCommand,
  },
  'Automation:': { watch: addWatchCommand, job: addJobCommand },
  'With many machines:': { fleet: addFleetCommand },
  'Care:': {
    verify: addVerifyCommand,
    repair: addRepairCommand,
    forget: addForgetCommand,
    gc: addCollectCommand,
    upgrade: addUpgradeCommand,
    key: addKeyCommand,
    remote: addRemoteCommand,
    login: addLoginCommand,
    logout: addLogoutCommand,
    config: addConfigCommand,
    completion: addCompletionCommand,
  },
};

export function isCommandName(name: string): boolean {
  return Object.values(COMMANDS).some((group) => Object.hasOwn(group, name));
}

/** Commands that need the whole program: help, and the completion script. */
const WHOLE_PROGRAM = new Set(['help', '--help', '-h', 'completion']);

/** Words that need no command after them. */
const VERSION = new Set(['--version', '-V']);

/** The next word after one of these is its value, even if it looks like a command. */
const VALUED_OPTIONS = valuedGlobalOptions();

/**
 * The commands that a command line may mean: all whose names occur anywhere in it, because the value of an
 * option may look like a command. Creating every command would take an eighth of a short run. Undefined: all
 * commands.
 */
export function commandsNamed(parameters: readonly string[]): ReadonlySet<string> | undefined {
  if (parameters.some((parameter) => WHOLE_PROGRAM.has(parameter))) return undefined;
  if (VERSION.has(parameters[0] ?? '')) return new Set();
  const known = new Set(Object.values(COMMANDS).flatMap((group) => Object.keys(group)));
  const named = parameters.filter(
    (parameter, at) => known.has(parameter) && !VALUED_OPTIONS.has(parameters[at - 1] ?? ''),
  );
  return named.length === 0 ? undefined : new Set(named);
}

/**
 * A program that throws CommanderError instead of ending the process. @param wanted The commands to create;
 * default all.
 */
export function buildProgram(host: CommandHost, wanted?: ReadonlySet<string>): Command {
  const program = new Command('dray')
    .description('Moves large datasets to and from object storage: versioned, verified, fast.')
    .version(`dray ${readVersion()}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .usage('[options] <command>')
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError()
    // run.ts prints errors, in one form with all others.
    .configureOutput({ outputError: () => {}, writeOut: writeAsIs })
    .configureHelp({ formatHelp: formatHelpAtTerminalWidth, subcommandTerm: (command) => command.name() })
    .addHelpText('after', CLOSING_HELP);
  for (const [heading, group] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const [name, add] of Object.entries(group)) if (wanted?.has(name) ?? true) add(program, host);
  }
  program.addHelpCommand(
    new Command('help').argument('[command]').description('print help for a command').helpGroup('Care:'),
  );
  addGlobalOptionsToAll(program);
  return program;
}

function addGlobalOptionsToAll(command: Command): void {
  addGlobalOptions(command);
  for (const child of command.commands) addGlobalOptionsToAll(child);
}

/** Wider help is hard to read. */
function formatHelpAtTerminalWidth(command: Command, helper: Help): string {
  helper.helpWidth = Math.min(helper.helpWidth ?? 80, 110);
  return Help.prototype.formatHelp.call(helper, command, helper);
}
