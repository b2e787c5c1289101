import { once } from 'node:events';
import { mkdirSync, watch } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { createSandbox, type Sandbox, testContext } from './job.fixture.ts';
import { findPassword } from './password.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

function find(variables: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<string> {
  const environment = { PATH: process.env.PATH, ...variables };
  const context = testContext(sandbox.folder, { environment, ...(signal && { signal }) });
  return findPassword(context, { address: 'file:///store' }, 'Password: ');
}

const fromFile = (content: string | Uint8Array) =>
  find({ DRAY_PASSWORD_FILE: sandbox.write('password', content) });

async function failureOf(finding: Promise<string>): Promise<DrayError> {
  const failure = await finding.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DrayError);
  expect(failure).toMatchObject({ code: 'noPassword' });
  return failure as DrayError;
}

describe('A password file', () => {
  it.each([
    ['with a line break', 'two herons\n'],
    ['with a line break of Windows', 'two herons\r\n'],
    ['without a line break', 'two herons'],
    ['with more lines, of any bytes', Buffer.from('two herons\n\xff\xfe', 'latin1')],
    ['with a byte order mark', '\uFEFFtwo herons\r\n'],
  ])('%s gives its first line', async (_, content) => {
    expect(await fromFile(content)).toBe('two herons');
  });

  it('keeps spaces around the password', async () => {
    expect(await fromFile(' two herons \n')).toBe(' two herons ');
  });

  it.each([
    ['empty', '', 'first line is empty'],
    ['of an empty line', '\ntwo herons\n', 'first line is empty'],
    ['of a byte order mark alone', '\uFEFF', 'first line is empty'],
    ['in UTF-16', Buffer.from('\uFEFFtwo herons\n', 'utf16le'), 'not UTF-8'],
    ['in Latin-1', Buffer.from('zwei Störche\n', 'latin1'), 'not UTF-8'],
    ['of one endless line', 'x'.repeat(100_000), 'no end of line'],
  ])('%s is refused with the reason', async (_, content, reason) => {
    const { message } = await failureOf(fromFile(content));
    expect(message).toContain(`The password file ${sandbox.path('password')}`);
    expect(message).toContain(reason);
  });

  it('that is missing, or a folder, is refused with the reason', async () => {
    const folder = sandbox.path('folder');
    mkdirSync(folder);
    const missing = await failureOf(find({ DRAY_PASSWORD_FILE: `${folder}/none` }));
    expect(missing.message).toContain('does not exist');
    expect((await failureOf(find({ DRAY_PASSWORD_FILE: folder }))).message).toContain('is a folder');
  });

  it.skipIf(process.platform === 'win32')(
    'that never ends is read no further than it may be long',
    async () => {
      const { message } = await failureOf(find({ DRAY_PASSWORD_FILE: '/dev/zero' }));
      expect(message).toContain('no end of line');
    },
  );
});

describe.skipIf(process.platform === 'win32')('A password command', () => {
  const run = (command: string, signal?: AbortSignal) => find({ DRAY_PASSWORD_COMMAND: command }, signal);

  it('gives the first line of what it prints, whatever it says besides', async () => {
    expect(await run('echo unlocking >&2; echo two herons; echo more')).toBe('two herons');
  });

  it('that fails is reported with what it said, without the command and its output', async () => {
    const command = ': login --token=marker1; echo marker2; echo the vault is locked >&2; exit 3';
    const failure = await failureOf(run(command));
    expect(failure.message).toContain('DRAY_PASSWORD_COMMAND failed with exit code 3: the vault is locked');
    for (let cause: unknown = failure; cause instanceof Error; cause = cause.cause)
      expect(`${cause.stack} ${JSON.stringify(cause)}`).not.toContain('marker');
  });

  it('that asks for input gets none, and one that prints nothing is told', async () => {
    for (const command of ['cat', 'true'])
      expect((await failureOf(run(command))).message).toContain('first line is empty');
  });

  it('that prints without end is stopped', async () => {
    expect((await failureOf(run('yes'))).message).toContain('DRAY_PASSWORD_COMMAND failed');
  });

  it('that hangs ends with the job', async () => {
    const abort = new AbortController();
    const runs = once(watch(sandbox.folder), 'change');
    const found = run(`touch ${sandbox.path('runs')}; exec sleep 600`, abort.signal);
    await runs;
    abort.abort();
    await expect(found).rejects.toMatchObject({ name: 'AbortError' });
  });
});
