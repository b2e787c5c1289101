import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DrayError } from '../../../../engine/api/error.ts';
import type { ServiceKind } from '../../../../engine/jobs/saved/service-files.ts';
import { type CommandHost, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { ownCommand } from './job-serve.ts';

interface InstallOptions {
  readonly kind?: ServiceKind;
  readonly output?: string;
}

export function addJobInstall(job: Command, host: CommandHost): void {
  const command = job
    .command('install')
    .description(
      'Writes a definition by which the system starts "dray job serve" at login: a systemd user unit, a launchd property list, or a task of Windows. Prints its path and the command that enables it.',
    )
    .addOption(
      new Option('--kind <kind>', "default: this system's own").choices(['systemd', 'launchd', 'windows']),
    )
    .option('--output <file>', 'write it here')
    .action(({ kind = ownKind(), output: path }: InstallOptions, self: Command) =>
      runCommand(host, self, {
        start: async ({ directory, environment }) => {
          const { serviceFile } = await import('../../../../engine/jobs/saved/service-files.ts');
          const [program, ...words] = ownCommand();
          const { APPDATA, HOME, XDG_CONFIG_HOME } = environment;
          const configHome = kind === 'windows' ? APPDATA : XDG_CONFIG_HOME;
          const file = serviceFile({
            kind,
            command: [program, ...words.map(absolute), 'job', 'serve', '--login'],
            environment: settingsOf(environment),
            ...(HOME ? { home: HOME } : {}),
            ...(configHome ? { configHome } : {}),
            ...(path === undefined ? {} : { path: resolve(directory, path) }),
          });
          write(file.path, file.text);
          return { path: file.path, enable: file.enable };
        },
        view: {
          onSummary: (written, output) => {
            output.result(written.path);
            output.note(`Enable it with: ${written.enable}`);
          },
        },
      }),
    );
  addExamples(command, [['dray job install', 'then run the command that it prints']]);
}

function ownKind(): ServiceKind {
  if (process.platform === 'win32') return 'windows';
  return process.platform === 'darwin' ? 'launchd' : 'systemd';
}

/** Resolves the script's path; words that begin with "-" are options of Node. */
function absolute(word: string): string {
  return word.startsWith('-') ? word : resolve(word);
}

/** The variables that locate settings. Keys are not included, because other users can read the definition. */
function settingsOf(environment: CommandHost['environment']): Record<string, string> {
  const names = [
    'DRAY_CONFIG',
    'DRAY_CACHE',
    'XDG_CONFIG_HOME',
    'XDG_CACHE_HOME',
    'AWS_PROFILE',
    'AWS_REGION',
  ];
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (cause) {
    throw new DrayError('io', `${path} cannot be written.`, { data: { path }, cause });
  }
}
