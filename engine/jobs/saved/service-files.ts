/**
 * Definitions that make the system start `dray job serve` at login: a systemd user unit (systemd.service(5)),
 * a launchd property list (launchd.plist(5)), a task of Windows' scheduler (its XML schema 1.2).
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { shellWord } from '../../base/shell-word.ts';

export type ServiceKind = 'systemd' | 'launchd' | 'windows';

export interface ServiceRequest {
  readonly kind: ServiceKind;
  /** The program and its words, including `job serve`. */
  readonly command: readonly [string, ...string[]];
  /** Variables without which the program would not find its settings. */
  readonly environment: Readonly<Record<string, string>>;
  /** The user's home and settings folders. */
  readonly home?: string;
  readonly configHome?: string;
  /** The path of the definition. Default: the system's usual place. */
  readonly path?: string;
}

export interface ServiceFile {
  readonly path: string;
  readonly text: string;
  /** The command that starts the service now and at each login. */
  readonly enable: string;
}

const LABEL = 'dray.jobs';

export function serviceFile(request: ServiceRequest): ServiceFile {
  const { command, environment, home = homedir(), kind } = request;
  for (const text of [...command, ...Object.values(environment)]) checkPlain(text);
  switch (kind) {
    case 'systemd':
      return {
        path:
          request.path ??
          join(request.configHome ?? join(home, '.config'), 'systemd', 'user', 'dray-jobs.service'),
        text: systemdUnit(request),
        // By its path, systemd links a unit of any folder.
        enable: `systemctl --user daemon-reload && systemctl --user enable --now ${shellWord(request.path ?? 'dray-jobs.service')}`,
      };
    case 'launchd': {
      const path = request.path ?? join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);
      const enable = `launchctl bootstrap gui/$(id -u) ${shellWord(path)}`;
      return { path, text: launchdList(request), enable };
    }
    case 'windows': {
      const path = request.path ?? join(request.configHome ?? home, 'dray', 'dray-jobs.xml');
      const create = `schtasks /Create /TN "Dray jobs" /XML "${path}"`;
      return { path, text: windowsTask(request), enable: `${create} && schtasks /Run /TN "Dray jobs"` };
    }
  }
}

function systemdUnit({ command, environment }: ServiceRequest): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return [
    '[Unit]',
    'Description=Dray saved jobs',
    'Documentation=man:systemd.service(5)',
    '',
    '[Service]',
    ...variables.map((variable) => `Environment=${quoteForSystemd(variable, { isCommand: false })}`),
    `ExecStart=${command.map((word) => quoteForSystemd(word, { isCommand: true })).join(' ')}`,
    'Restart=on-failure',
    'RestartSec=30',
    // A run that SIGTERM stops continues later; it has ten seconds to stop.
    'KillMode=mixed',
    'TimeoutStopSec=20',
    'SuccessExitStatus=143',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** `%` begins a specifier; `$` a variable, in commands only. */
function quoteForSystemd(text: string, { isCommand }: { readonly isCommand: boolean }): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${isCommand ? escaped.replaceAll('$', '$$$$') : escaped}"`;
}

function launchdList({ command, environment }: ServiceRequest): string {
  const variables = Object.entries(environment).flatMap(([name, value]) => [
    `      <key>${escapeXml(name)}</key>`,
    `      <string>${escapeXml(value)}</string>`,
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '  <dict>',
    '    <key>Label</key>',
    `    <string>${LABEL}</string>`,
    '    <key>ProgramArguments</key>',
    '    <array>',
    ...command.map((word) => `      <string>${escapeXml(word)}</string>`),
    '    </array>',
    '    <key>EnvironmentVariables</key>',
    '    <dict>',
    ...variables,
    '    </dict>',
    '    <key>RunAtLoad</key>',
    '    <true/>',
    '    <key>KeepAlive</key>',
    '    <dict>',
    '      <key>SuccessfulExit</key>',
    '      <false/>',
    '    </dict>',
    '    <key>ProcessType</key>',
    '    <string>Background</string>',
    '    <key>ExitTimeOut</key>',
    '    <integer>20</integer>',
    '  </dict>',
    '</plist>',
    '',
  ].join('\n');
}

/** Variables cannot be set in a task; DRAY_CONFIG has to be one of the user's own. */
function windowsTask({ command }: ServiceRequest): string {
  const [program, ...words] = command;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '  <RegistrationInfo>',
    '    <Description>Dray saved jobs</Description>',
    '  </RegistrationInfo>',
    '  <Triggers>',
    '    <LogonTrigger>',
    '      <Enabled>true</Enabled>',
    '    </LogonTrigger>',
    '  </Triggers>',
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <StartWhenAvailable>true</StartWhenAvailable>',
    '    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    '  </Settings>',
    '  <Actions>',
    '    <Exec>',
    `      <Command>${escapeXml(program)}</Command>`,
    `      <Arguments>${escapeXml(words.map(quoteForWindows).join(' '))}</Arguments>`,
    '    </Exec>',
    '  </Actions>',
    '</Task>',
    '',
  ].join('\n');
}

/** By the rules of `CommandLineToArgvW`: backslashes are doubled only before a quote. */
function quoteForWindows(text: string): string {
  return `"${text.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A line break would begin another setting. */
function checkPlain(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these.
  if (!/[\u0000-\u001f\u007f]/.test(text)) return;
  throw new DrayError('usage', 'A path with a control character cannot be part of a service definition.');
}
