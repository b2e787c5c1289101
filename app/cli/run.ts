/** Parses a command line, runs it and ends the process with the command's exit code. */
import { type Command, CommanderError } from 'commander';
import { DrayError } from '../../engine/api/error.ts';
import { type CommandHost, EXIT_FAILED } from './command-host.ts';
import { otherToolsCommand } from './options/other-tools-commands.ts';
import { reportError } from './output/error-lines.ts';
import { createOutput } from './output/output.ts';
import { onStreamError, writeLineAtOnce, writeOutputWhole, writtenOutput } from './output/terminal.ts';
import { buildProgram, commandsNamed, isCommandName } from './program.ts';

const EXIT_USAGE = 2;
const UNKNOWN_COMMAND = 'commander.unknownCommand';
/** 128 + SIGPIPE: the exit code of a program whose reader (`head`, `less`) goes away. */
const EXIT_READER_GONE = 141;

export function run(asked: readonly string[]): Promise<void> {
  const [first, name = '-'] = asked;
  // Help for an unknown command ends as the command itself would.
  const isHelpless = first === 'help' && !name.startsWith('-') && !isCommandName(name);
  const parameters = isHelpless ? asked.slice(1) : asked;
  return runProgram((host, wanted) => buildProgram(host, wanted), parameters, commandsNamed(parameters));
}

export async function runProgram(
  build: (host: CommandHost, wanted?: ReadonlySet<string>) => Command,
  parameters: readonly string[],
  wanted?: ReadonlySet<string>,
): Promise<void> {
  const host: CommandHost = {
    environment: process.env,
    exit: (code) => process.exit(code),
    exitCode: 0,
    build,
  };
  writeOutputWhole();
  endWithoutReader(host);
  process.on('uncaughtException', (error) => void reportFatal(error, parameters, host));
  const parse = (some?: ReadonlySet<string>): Promise<Command> =>
    build(host, some)
      .parseAsync([...parameters], { from: 'user' })
      .catch((error) => {
        // Only a program with all commands can suggest the one that was meant.
        if (some && error instanceof CommanderError && error.code === UNKNOWN_COMMAND) return parse();
        throw error;
      });
  try {
    await parse(wanted);
  } catch (error) {
    host.exitCode = await reportFatal(error, parameters, host);
  }
  // For help and scripts too: a pipe takes 64 KiB at once and the rest as it is read.
  await writtenOutput();
  // Explicit, because a kept-alive socket would hold the process open.
  host.exit(host.exitCode);
}

/** Exits silently when the reader has gone. */
function endWithoutReader(host: CommandHost): void {
  onStreamError((stream, error) => {
    if (error.code === 'EPIPE') return host.exit(EXIT_READER_GONE);
    if (stream === 'stdout') writeLineAtOnce(`dray: Standard output cannot be written: ${error.message}.`);
    host.exit(EXIT_FAILED);
  });
}

/** Errors that no command caught: commander's own, and programmers' errors. */
async function reportFatal(
  error: unknown,
  parameters: readonly string[],
  host: CommandHost,
): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  // For a command line without a command, commander has already printed the help.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT_USAGE;
  const has = (...names: string[]) => names.some((name) => parameters.includes(name));
  const output = createOutput({
    json: has('--json'),
    quiet: has('-q', '--quiet'),
    verbose: has('-v', '--verbose') && !(error instanceof CommanderError),
    environment: host.environment,
  });
  const code = reportError(
    output,
    error instanceof CommanderError ? toUsageError(error, parameters) : error,
    {
      command: 'dray',
    },
  );
  await output.close();
  if (!(error instanceof CommanderError)) host.exit(code);
  return code;
}

/**
 * "error: unknown command 'psuh'\n(Did you mean push?)" becomes "unknown command 'psuh'. Did you mean push?"
 */
function toUsageError(error: CommanderError, parameters: readonly string[]): DrayError {
  const text = error.message.replace(/^error: /, '').replace(/\s*\n\((Did you mean .*\?)\)$/, '. $1');
  if (error.code !== UNKNOWN_COMMAND) return new DrayError('usage', text, { data: { code: error.code } });
  const [unknown = text, name = ''] = /^unknown command '([^']*)'/.exec(text) ?? [];
  // Below a command such as "remote", the names of other tools have another meaning.
  const hint = commandsNamed(parameters) === undefined ? otherToolsCommand(name) : undefined;
  const known = text === unknown ? `${text}. "dray help" lists the commands.` : text;
  return new DrayError('usage', hint === undefined ? known : `${unknown}. ${hint}`, {
    data: { code: error.code },
  });
}
