/** Where passwords come from: the environment, a file, a command, or the person at the terminal. */
import { exec } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs.ts';

export type PasswordContext = Pick<JobContext, 'askPassword' | 'environment' | 'signal'>;

const PASSWORD_BYTES_MAX = 64 * 1024;

/** @throws `noPassword` */
export async function findPassword(
  context: PasswordContext,
  address: string,
  question: string,
): Promise<string> {
  const password =
    (await configuredPassword(context, 'DRAY_PASSWORD')) ?? (await context.askPassword?.(question));
  if (password !== undefined && password !== '') return password;
  throw new DrayError(
    'noPassword',
    `The repository at ${address} is encrypted, and there is no password for it.`,
    {
      data: { remote: address },
      advice: 'Set DRAY_PASSWORD, DRAY_PASSWORD_FILE or DRAY_PASSWORD_COMMAND, or run Dray at a terminal.',
    },
  );
}

/** @throws `noPassword`, also when the two answers differ */
export async function findNewPassword(context: PasswordContext, variable: string): Promise<string> {
  const given = await configuredPassword(context, variable);
  const password = given ?? (await context.askPassword?.('New password: '));
  if (password === undefined || password === '') {
    throw new DrayError('noPassword', 'There is no new password.', {
      advice: `Set ${variable}, ${variable}_FILE or ${variable}_COMMAND, or run Dray at a terminal.`,
    });
  }
  if (given === undefined && (await context.askPassword?.('The same again: ')) !== password)
    throw new DrayError('noPassword', 'The two passwords differ. Nothing was changed.');
  return password;
}

/** Undefined if the environment says nothing. */
async function configuredPassword(
  { environment, signal }: PasswordContext,
  variable: string,
): Promise<string | undefined> {
  const password = environment[variable];
  if (password !== undefined) return password;
  const file = environment[`${variable}_FILE`];
  if (file !== undefined) return firstLine(await readPasswordFile(file));
  const command = environment[`${variable}_COMMAND`];
  return command === undefined
    ? undefined
    : firstLine(await runPasswordCommand(command, environment, signal));
}

async function readPasswordFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new DrayError('noPassword', `The password file ${path} cannot be read.`, { data: { path }, cause });
  }
}

async function runPasswordCommand(
  command: string,
  environment: PasswordContext['environment'],
  signal: AbortSignal,
): Promise<string> {
  try {
    const options = { env: { ...environment }, maxBuffer: PASSWORD_BYTES_MAX, signal };
    return (await promisify(exec)(command, options)).stdout;
  } catch (cause) {
    signal.throwIfAborted();
    throw new DrayError('noPassword', `The password command failed: ${command}`, {
      data: { command },
      cause,
    });
  }
}

function firstLine(text: string): string {
  return text.split(/[\r\n]/, 1)[0]!;
}
