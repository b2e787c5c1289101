/** Where passwords come from: the environment, a file, a command, or the person at the terminal. */
import { exec } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { LockedRepository } from '../../api/jobs/repositories.ts';
import type { Descriptor } from '../../repository/descriptor.ts';

export type PasswordContext = Pick<JobContext, 'askPassword' | 'environment' | 'masterKeys' | 'signal'>;

const PASSWORD_VARIABLES = ['DRAY_PASSWORD', 'DRAY_PASSWORD_FILE', 'DRAY_PASSWORD_COMMAND'];
const PASSWORD_BYTES_MAX = 64 * 1024;
/** Of what a command that failed wrote to its standard error. */
const SAID_CHARS_MAX = 200;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** @throws `noPassword` */
export async function findPassword(
  context: PasswordContext,
  { address, check, id }: Pick<LockedRepository, 'address'> & Partial<LockedRepository>,
  question: string,
): Promise<string> {
  const data = { remote: address, ...(id === undefined ? {} : { repository: id, check }) };
  const password =
    (await configuredPassword(context, 'DRAY_PASSWORD', data)) ?? (await context.askPassword?.(question));
  if (password !== undefined && password !== '') return password;
  throw new DrayError(
    'noPassword',
    `The repository at ${address} is encrypted, and there is no password for it.`,
    {
      data,
      advice: 'Set DRAY_PASSWORD, DRAY_PASSWORD_FILE or DRAY_PASSWORD_COMMAND, or run Dray at a terminal.',
    },
  );
}

/**
 * Whoever gives a password means an encrypted repository. Somebody may have put a plain one in its place, to
 * which the next push would send plain content.
 */
export function warnIfPlain(
  { emit, environment }: Pick<JobContext, 'emit' | 'environment'>,
  address: string,
  { encryption }: Pick<Descriptor, 'encryption'>,
): void {
  const variable = PASSWORD_VARIABLES.find((name) => environment[name] !== undefined);
  if (encryption || variable === undefined) return;
  const message = `The repository at ${address} is not encrypted, although ${variable} is set.`;
  emit({ type: 'warning', warning: 'notEncrypted', message });
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

/**
 * Undefined if the environment says nothing.
 *
 * @param of the repository, for the error's data: a window asks for its password
 * @throws `noPassword` for a file or command that gives none
 */
async function configuredPassword(
  context: PasswordContext,
  variable: string,
  of: Readonly<Record<string, unknown>> = {},
): Promise<string | undefined> {
  try {
    return await readConfigured(context, variable);
  } catch (error) {
    if (!(error instanceof DrayError)) throw error;
    const { cause, code, data, message } = error;
    throw new DrayError(code, message, { data: { ...data, ...of, reason: 'passwordSource' }, cause });
  }
}

async function readConfigured(
  { environment, signal }: PasswordContext,
  variable: string,
): Promise<string | undefined> {
  const password = environment[variable];
  if (password !== undefined) return password;
  const file = environment[`${variable}_FILE`];
  if (file !== undefined) return firstLine(await readPasswordFile(file, signal), `The password file ${file}`);
  const command = environment[`${variable}_COMMAND`];
  if (command === undefined) return undefined;
  const name = `The command in ${variable}_COMMAND`;
  return firstLine(await runPasswordCommand(command, name, { environment, signal }), name);
}

/** Its first bytes: the path may be a pipe or a device. */
async function readPasswordFile(path: string, signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of createReadStream(path, { end: PASSWORD_BYTES_MAX - 1, signal }))
      pieces.push(piece);
  } catch (cause) {
    signal.throwIfAborted();
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : code === 'EISDIR' ? 'is a folder' : 'cannot be read';
    throw new DrayError('noPassword', `The password file ${path} ${why}.`, { data: { path }, cause });
  }
  return Buffer.concat(pieces);
}

/**
 * Runs without input: a command that asks would wait for an answer that nobody can give. Neither the command
 * nor its output goes into the error, since both may hold a secret.
 */
async function runPasswordCommand(
  command: string,
  name: string,
  { environment, signal }: Pick<PasswordContext, 'environment' | 'signal'>,
): Promise<Buffer> {
  const options = { env: { ...environment }, encoding: 'buffer', maxBuffer: PASSWORD_BYTES_MAX } as const;
  try {
    const running = promisify(exec)(command, { ...options, signal });
    running.child.stdin?.end();
    return (await running).stdout;
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: Buffer };
    const [said = ''] =
      stderr
        ?.toString('utf8')
        .trim()
        .split(/[\r\n]/, 1) ?? [];
    const result = typeof code === 'number' ? `failed with exit code ${code}` : 'failed';
    const message =
      said === '' ? `${name} ${result}.` : `${name} ${result}: ${said.slice(0, SAID_CHARS_MAX)}`;
    throw new DrayError('noPassword', message, { data: typeof code === 'number' ? { exitCode: code } : {} });
  }
}

/**
 * In UTF-8, without the byte order mark that editors on Windows write. Other bytes would all become the same
 * replacement character, and so a weak password.
 */
function firstLine(bytes: Buffer, name: string): string {
  const end = bytes.findIndex((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN);
  const line = end < 0 ? bytes : bytes.subarray(0, end);
  if (line.length >= PASSWORD_BYTES_MAX) throw new DrayError('noPassword', `${name} gives no end of line.`);
  let password: string;
  try {
    password = new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    throw new DrayError('noPassword', `${name} gives a password that is not UTF-8.`);
  }
  if (password !== '') return password;
  throw new DrayError('noPassword', `${name} gives no password: its first line is empty.`);
}
