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
          const { looksSecret } = await import('../../../../engine/jobs/saved/saved-job.ts');
          const file = serviceFile({
            kind,
            command: [program, ...words.map(absolute), 'job', 'serve', '--login'],
            environment: settingsOf(environment, looksSecret),
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

/** The variables that locate settings and stores, without keys: other users can read the definition. */
function settingsOf(
  environment: CommandHost['environment'],
  looksSecret: (text: string) => boolean,
): Record<string, string> {
  const names = [
    ...['DRAY_CONFIG', 'DRAY_CACHE', 'DRAY_AUTHOR', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME'],
    ...['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION'],
    ...['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3'],
    ...['AWS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'],
  ];
  const set = names.map((name) => [name, environment[name] ?? ''] as const);
  return Object.fromEntries(set.filter(([, value]) => value !== '' && !looksSecret(value)));
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (cause) {
    throw new DrayError('io', `${path} cannot be written.`, { data: { path }, cause });
  }
}
