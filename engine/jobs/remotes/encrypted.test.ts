import { createCipheriv, createHash, hash as hashOf } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startVersitygw } from '../../../e2e/servers/versitygw.ts';
import { paddedBytes, sealedBytesOf } from '../../sealing/sealed-form.ts';
import { collectGarbage } from '../collect/collect.ts';
import { tag } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { forget } from '../retention/forget.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { initWorkspace } from './init.ts';
import { addKey, changePassword, listKeys, removeKey } from './keys.ts';
import { remoteAdd } from './remotes.ts';

let sandbox: Sandbox;
let work: string;
/** An empty encrypted repository and its recovery key, which opens without the cost of a password. */
let made: { readonly sandbox: Sandbox; readonly recoveryKey: string };
const PASSWORD = { DRAY_PASSWORD: 'secret' };

beforeAll(async () => {
  const first = createSandbox();
  mkdirSync(first.path('work'));
  const request = { remoteUrl: first.path('store'), encrypt: true, layout: { chunkAbove: 200_000 } };
  const summary = await initWorkspace(testContext(first.path('work'), { environment: PASSWORD }), request);
  expect(summary).toMatchObject({ created: true, encrypted: true });
  made = { sandbox: first, recoveryKey: summary.recoveryKey! };
});
afterAll(() => made.sandbox[Symbol.dispose]());
beforeEach(async () => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  mkdirSync(work);
  cpSync(made.sandbox.path('store'), sandbox.path('store'), { recursive: true });
});
afterEach(() => sandbox[Symbol.dispose]());

/** @param password `null`: none is given. */
function withPassword(directory: string, password: string | null = made.recoveryKey) {
  const given = password === null ? {} : { DRAY_PASSWORD: password };
  return testContext(directory, { environment: { DRAY_AUTHOR: AUTHOR, ...given } });
}

async function start(): Promise<void> {
  const joined = await initWorkspace(withPassword(work), { remoteUrl: sandbox.path('store') });
  expect(joined).toMatchObject({ created: false, encrypted: true });
}

async function clone(name: string, password: string | null = made.recoveryKey): Promise<string> {
  const context = withPassword(sandbox.folder, password);
  await cloneWorkspace(context, { url: sandbox.path('store'), directory: name });
  return sandbox.path(name);
}

/** Bytes that do not compress, the same in each run. */
function noise(bytes: number, seed: string): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const MARKER = 'PLANTEDMARKER';
const AUTHOR = 'planted author';

function writeFiles(): void {
  for (let at = 0; at < 20; at += 1) sandbox.write(`work/${MARKER}-${at}.txt`, `${MARKER} ${at}`);
  sandbox.write(`work/deep/${MARKER}.bin`, Buffer.concat([Buffer.from(MARKER), noise(2_000_000, 'a')]));
  sandbox.write('work/cut.bin', Buffer.concat([noise(9_000_000, 'b'), Buffer.from(MARKER)]));
}

describe('An encrypted repository', () => {
  it('gives a clone what was pushed, and shows no name, content or message in any stored byte', async () => {
    await start();
    writeFiles();
    const pushed = await push(withPassword(work), { message: `${MARKER} message` });
    expect(pushed).toMatchObject({ result: 'pushed', failed: 0 });
    expect(describeTree(await clone('copy'))).toEqual(describeTree(work));
    const stored = filesIn(sandbox.path('store'));
    expect(stored.length).toBeGreaterThan(7);
    for (const path of stored) {
      expect(path).not.toContain(MARKER);
      expect(readFileSync(path).includes(MARKER), path).toBe(false);
      expect(readFileSync(path).includes(AUTHOR), path).toBe(false);
    }
    const whole = await verify(withPassword(work), { readDataPercent: 100 });
    expect(whole).toMatchObject({ missing: 0, damaged: 0 });
  });

  it('carries changes both ways, merges, and sends known content once', async () => {
    await start();
    writeFiles();
    await push(withPassword(work), {});
    const copy = await clone('copy');
    writeFileSync(join(copy, 'theirs.txt'), 'theirs');
    writeFileSync(join(copy, 'again.bin'), readFileSync(join(work, 'cut.bin')));
    const second = await push(withPassword(copy), {});
    expect(second.uploadedBytes).toBeLessThan(100_000);
    sandbox.write('work/ours.txt', 'ours');
    expect(await push(withPassword(work), {})).toMatchObject({ result: 'pushed' });
    await pull(withPassword(work), {});
    await pull(withPassword(copy), {});
    expect(describeTree(copy)).toEqual(describeTree(work));
    // Nothing is known to a new index, so the store is asked, by both ways.
    for (const query of ['each', 'list'] as const) {
      sandbox.write(`work/${query}`, query);
      const again = await push(withPassword(work), { query, noIndex: true });
      expect(again.uploadedBytes).toBeLessThan(100_000);
    }
  });

  it('cuts large files elsewhere than another repository with the same content', async () => {
    await start();
    sandbox.write('work/cut.bin', noise(9_000_000, 'c'));
    await push(withPassword(work), {});
    const sizes = filesIn(sandbox.path('store/objects')).map((path) => readFileSync(path).length);
    const other = sandbox.path('other');
    mkdirSync(other);
    const request = { remoteUrl: sandbox.path('store2'), layout: { chunkAbove: 200_000 } };
    await initWorkspace(testContext(other), request);
    writeFileSync(join(other, 'cut.bin'), readFileSync(sandbox.path('work/cut.bin')));
    await push(testContext(other), {});
    const others = filesIn(sandbox.path('store2/objects')).map((path) => readFileSync(path).length);
    expect(others.map((bytes) => sealedBytesOf(paddedBytes(bytes))).sort()).not.toEqual(sizes.sort());
  });

  it.skipIf(process.platform === 'win32')(
    'keeps the key of its cuts where only the owner can read it',
    async () => {
      await start();
      sandbox.write('work/a', 'a');
      await push(withPassword(work), {});
      const copy = await clone('copy');
      for (const root of [work, copy]) expect(statSync(`${root}/.dray/config.json`).mode & 0o777).toBe(0o600);
    },
  );

  it('tells the state of large files without a password', async () => {
    await start();
    writeFiles();
    await push(withPassword(work), {});
    const copy = await clone('copy');
    // The index no longer knows the file, so it is read and cut again.
    utimesSync(join(copy, 'cut.bin'), 1, 1);
    const changes = { added: 0, modified: 0, deleted: 0 };
    expect(await status(withPassword(copy, null), {})).toMatchObject({ changes });
  });

  it('is pushed to and cloned from by threads, which end with the job', async () => {
    await start();
    writeFileSync(join(work, 'large'), noise(24_000_000, 'large'));
    const threads: Worker[] = [];
    const onThread = (thread: Worker) => void threads.push(thread);
    process.on('worker', onThread);
    try {
      await push(withPassword(work), {});
      expect(describeTree(await clone('copy'))).toEqual(describeTree(work));
    } finally {
      process.off('worker', onThread);
    }
    // Of three kinds: they read, seal and open, and write.
    expect(threads.length).toBeGreaterThanOrEqual(4);
    expect(threads.map(({ threadId }) => threadId)).toEqual(threads.map(() => -1));
  });

  it('holds compressed content, which a new workspace finds by either way of asking', async () => {
    const request = { remoteUrl: sandbox.path('small'), encrypt: true, compression: 'auto' } as const;
    const { recoveryKey } = await initWorkspace(testContext(work, { environment: PASSWORD }), request);
    const own = (directory: string) => withPassword(directory, recoveryKey!);
    sandbox.write('work/text.csv', 'a,b,c\n'.repeat(700_000));
    sandbox.write('work/noise.bin', noise(3_000_000, 'e'));
    const pushed = await push(own(work), {});
    expect(pushed.uploadedBytes).toBeLessThan(3_200_000);
    for (const query of ['each', 'list'] as const) {
      sandbox.write(`work/${query}`, query);
      const again = await push(own(work), { query, noIndex: true });
      expect(again.uploadedBytes).toBeLessThan(10_000);
    }
    await cloneWorkspace(own(sandbox.folder), { url: sandbox.path('small'), directory: 'copy' });
    expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(work));
    expect(await verify(own(work), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
  });

  it('collects garbage', async () => {
    await start();
    writeFiles();
    await push(withPassword(work), {});
    sandbox.write('work/cut.bin', noise(5_000_000, 'd'));
    await push(withPassword(work), {});
    await forget(withPassword(work), { policy: { keepLast: 1 } });
    const collected = await collectGarbage(withPassword(work), { graceSeconds: 0 });
    expect(collected.result).toBe('collected');
    expect(collected.removedBytes).toBeGreaterThan(8_000_000);
    expect(await verify(withPassword(work), { readDataPercent: 100 })).toMatchObject({ missing: 0 });
    sandbox.write('work/again.bin', Buffer.concat([noise(9_000_000, 'b'), Buffer.from(MARKER)]));
    await push(withPassword(work), {});
    expect(describeTree(await clone('copy'))).toEqual(describeTree(work));
  });

  it('keeps a pack of a few bytes, whose padding is not unused content', async () => {
    await start();
    sandbox.write('work/small', 'a');
    await push(withPassword(work), {});
    for (let run = 0; run < 3; run += 1) {
      const collected = await collectGarbage(withPassword(work), { graceSeconds: 0 });
      expect(collected.result).toBe('nothingToCollect');
    }
    expect(describeTree(await clone('copy'))).toEqual(describeTree(work));
  });

  it('knows a commit by its first digits', async () => {
    await start();
    writeFiles();
    const { commit } = await push(withPassword(work), {});
    await tag(withPassword(work), { name: 'v1', ref: commit!.slice(0, 10) });
    expect(await tag(withPassword(work), {})).toMatchObject({ refs: 1 });
  });
});

describe('Each failure of an encrypted repository is its own', () => {
  beforeEach(async () => {
    await start();
    writeFiles();
    await push(withPassword(work), {});
  });

  it('no password, a wrong one, and lost keys', async () => {
    await expect(clone('a', null)).rejects.toMatchObject({ code: 'noPassword' });
    await expect(clone('b', 'wrong')).rejects.toMatchObject({ code: 'wrongPassword' });
    rmSync(sandbox.path('store/keys'), { recursive: true });
    await expect(clone('c')).rejects.toMatchObject({ code: 'noKeySlots' });
    expect(readdirSync(sandbox.folder).filter((name) => name.length === 1)).toEqual([]);
  });

  it('a slot that was changed', async () => {
    for (const slot of filesIn(sandbox.path('store/keys')))
      writeFileSync(slot, readFileSync(slot, 'utf8').replace('"label": "', '"label": "x'));
    await expect(clone('a')).rejects.toMatchObject({ code: 'damaged' });
  });

  it('objects that were changed, cut or exchanged: no file of them is written', async () => {
    const [one, other] = filesIn(sandbox.path('store/objects')) as [string, string];
    const good = [readFileSync(one), readFileSync(other)] as const;
    const flipped = Buffer.from(good[0]);
    flipped[1000]! ^= 1;
    for (const bad of [flipped, good[0].subarray(0, -1), good[1]]) {
      writeFileSync(one, bad);
      expect(await verify(withPassword(work), { readDataPercent: 100 })).toMatchObject({ damaged: 1 });
      rmSync(sandbox.path('copy'), { recursive: true, force: true });
      const context = withPassword(sandbox.folder);
      const cloned = await cloneWorkspace(context, { url: sandbox.path('store'), directory: 'copy' });
      expect(cloned.failed).toBe(1);
      for (const path of filesIn(sandbox.path('copy')).filter((each) => !each.includes('.dray'))) {
        const name = path.slice(sandbox.path('copy').length);
        expect(readFileSync(path).equals(readFileSync(work + name)), name).toBe(true);
      }
    }
  });

  it('a ref that was replaced by an older one of another branch', async () => {
    await tag(withPassword(work), { name: 'v1' });
    writeFileSync(sandbox.path('store/refs/heads/main'), readFileSync(sandbox.path('store/refs/tags/v1')));
    await expect(pull(withPassword(work), {})).rejects.toMatchObject({ code: 'damaged' });
  });

  it('an older state of a branch, which a workspace that saw a newer one does not take', async () => {
    const before = readFileSync(sandbox.path('store/refs/heads/main'));
    const copy = await clone('copy');
    const { commit: first } = await pull(withPassword(copy), {});
    sandbox.write('work/new', 'new');
    await push(withPassword(work), {});
    await pull(withPassword(copy), {});
    writeFileSync(sandbox.path('store/refs/heads/main'), before);
    const tree = describeTree(work);
    const refused = { code: 'damaged', data: { reason: 'rolledBack' } };
    for (const root of [work, copy]) {
      await expect(pull(withPassword(root), {})).rejects.toMatchObject(refused);
      writeFileSync(join(root, 'more'), root);
      await expect(push(withPassword(root), {})).rejects.toMatchObject(refused);
      expect(readFileSync(sandbox.path('store/refs/heads/main'))).toEqual(before);
      rmSync(join(root, 'more'));
      expect(describeTree(root)).toEqual(tree);
    }
    // Whoever meant it says so, and goes on from there.
    await expect(pull(withPassword(copy), { ref: 'main' })).rejects.toMatchObject(refused);
    const { commit } = await pull(withPassword(copy), { ref: first! });
    expect(describeTree(copy)).not.toEqual(tree);
    writeFileSync(join(copy, 'more'), 'more');
    expect(await push(withPassword(copy), {})).toMatchObject({ result: 'pushed' });
    expect(commit).not.toBeNull();
  });

  it('another repository in its place', async () => {
    rmSync(sandbox.path('store'), { recursive: true });
    const other = sandbox.path('other');
    mkdirSync(other);
    await initWorkspace(testContext(other), { remoteUrl: sandbox.path('store') });
    writeFileSync(join(other, 'a'), 'a');
    await push(testContext(other), {});
    await expect(push(withPassword(work), {})).rejects.toMatchObject({ code: 'noKeySlots' });
  });
});

describe('A plain repository', () => {
  const warnings = (context: ReturnType<typeof testContext>) =>
    eventsOf(context, 'warning').map(({ warning }) => warning);

  it('is told of where a password is given, by init and clone', async () => {
    const remoteUrl = sandbox.path('plain');
    for (const environment of [PASSWORD, { DRAY_PASSWORD_FILE: 'none' }, {}] as const) {
      const root = sandbox.path(`plain-${Object.keys(environment)[0]}`);
      mkdirSync(root);
      const joining = testContext(root, { environment });
      await initWorkspace(joining, { remoteUrl });
      writeFileSync(join(root, 'a'), root);
      if (environment === PASSWORD) await push(testContext(root), {});
      const cloning = testContext(sandbox.folder, { environment });
      await cloneWorkspace(cloning, { url: remoteUrl, directory: `${root}-copy` });
      const expected = Object.keys(environment).length > 0 ? ['notEncrypted'] : [];
      expect(warnings(joining).filter((each) => each === 'notEncrypted')).toEqual(expected);
      expect(warnings(cloning).filter((each) => each === 'notEncrypted')).toEqual(expected);
    }
  });

  it('is not made by a push of a workspace that has an encrypted one', async () => {
    await start();
    sandbox.write('work/a', 'a');
    await push(withPassword(work), {});
    const url = sandbox.path('mirror');
    await remoteAdd(withPassword(work), { name: 'mirror', url });
    const pushing = { ...withPassword(work), remoteName: 'mirror' };
    await expect(push(pushing, {})).rejects.toMatchObject({ code: 'usage', data: { encrypted: 'origin' } });
    expect(filesIn(url)).toEqual([]);
    // Another workspace may make one, plain or encrypted.
    const other = sandbox.path('other');
    mkdirSync(other);
    await initWorkspace(testContext(other), { remoteUrl: url });
    expect(await push(pushing, {})).toMatchObject({ result: 'pushed' });
  });
});

describe('The keys of an encrypted repository', () => {
  it('are added, changed and removed, and each opens it', async () => {
    await start();
    writeFiles();
    await push(withPassword(work), {});
    const withNew = (password: string, next: string) =>
      testContext(work, { environment: { DRAY_PASSWORD: password, DRAY_NEW_PASSWORD: next } });
    const added = await addKey(withNew('secret', 'other'), { kind: 'password', label: 'bob' });
    const changed = await changePassword(withNew('secret', 'third'));
    expect(
      (await listKeys(testContext(work))).keys.map(({ kind, label }) => `${kind} ${label}`).sort(),
    ).toEqual(['password bob', 'password first password', 'recovery recovery key']);
    await clone('a', 'other');
    await clone('b', 'third');
    await clone('c');
    await expect(clone('d', 'secret')).rejects.toMatchObject({ code: 'wrongPassword' });
    const own = removeKey(withPassword(work, 'third'), changed.key.id);
    await expect(own).rejects.toMatchObject({ code: 'usage' });
    await removeKey(withPassword(work, 'third'), added.key.id);
    await expect(clone('e', 'other')).rejects.toMatchObject({ code: 'wrongPassword' });
  });

  it('that somebody put there to hold others up are listed, not tried, and can be removed', async () => {
    await start();
    const keys = join(made.sandbox.path('store'), 'keys');
    const text = readdirSync(keys)
      .map((id) => readFileSync(join(keys, id), 'utf8'))
      .find((slot) => slot.includes('argon2id'))!
      .replace('"passes": 3', '"passes": 1000000');
    const id = hashOf('sha256', text, 'hex');
    writeFileSync(join(sandbox.path('store'), 'keys', id), text);
    const { damaged, keys: listed } = await listKeys(testContext(work));
    expect(damaged).toEqual([expect.stringContaining(id)]);
    expect(listed).toHaveLength(3);
    const { key } = await removeKey(withPassword(work), id.slice(0, 8));
    expect(key.id).toBe(id.slice(0, 8));
    expect((await listKeys(testContext(work))).damaged).toEqual([]);
  });

  it('are listed by one request each', async () => {
    await using server = await startVersitygw();
    const environment = { ...server.environment, ...PASSWORD };
    const request = { remoteUrl: `s3://${server.bucket}/keys`, encrypt: true };
    await initWorkspace(testContext(work, { environment }), request);
    await server.resetRequests();
    const retries: string[] = [];
    const context = testContext(work, { environment, onRetry: (code) => retries.push(code) });
    expect((await listKeys(context)).keys).toHaveLength(2);
    expect(retries).toEqual([]);
    const operations = (await server.requests()).map(({ operation }) => operation);
    expect(operations).toEqual(['GetObject', 'ListObjectsV2', 'GetObject', 'GetObject']);
  });

  it('come from the environment, a file, a command, or the person, in this order', async () => {
    await start();
    writeFiles();
    await push(withPassword(work), {});
    const file = sandbox.write('password', `${made.recoveryKey}\nignored\n`);
    const { recoveryKey } = made;
    const ask = { askPassword: () => Promise.resolve(recoveryKey) };
    for (const [environment, more] of [
      [{ DRAY_PASSWORD_FILE: file }, {}],
      [{ DRAY_PASSWORD_COMMAND: `echo ${recoveryKey}` }, {}],
      [{}, ask],
    ] as const)
      expect(await pull(testContext(work, { environment, ...more }), {})).toMatchObject({
        result: 'upToDate',
      });
    const wrong = { environment: { DRAY_PASSWORD: 'wrong', DRAY_PASSWORD_FILE: file }, ...ask };
    await expect(pull(testContext(work, wrong), {})).rejects.toMatchObject({ code: 'wrongPassword' });
    for (const environment of [{ DRAY_PASSWORD_FILE: `${file}x` }, { DRAY_PASSWORD_COMMAND: 'exit 3' }])
      await expect(pull(testContext(work, { environment }), {})).rejects.toMatchObject({
        code: 'noPassword',
      });
  });
});

describe('init --encrypt', () => {
  it('joins an encrypted repository with its password, and refuses one that is not encrypted', async () => {
    await start();
    const other = sandbox.path('other');
    mkdirSync(other);
    const join = { remoteUrl: sandbox.path('store') };
    await expect(initWorkspace(withPassword(other, 'wrong'), join)).rejects.toMatchObject({
      code: 'wrongPassword',
    });
    expect(await initWorkspace(withPassword(other), join)).toMatchObject({ created: false, encrypted: true });
    const plain = sandbox.path('plain');
    mkdirSync(plain);
    await initWorkspace(testContext(plain), { remoteUrl: sandbox.path('plainstore') });
    const refused = initWorkspace(withPassword(sandbox.path('third')), {
      remoteUrl: sandbox.path('plainstore'),
      encrypt: true,
    });
    await expect(refused).rejects.toMatchObject({ code: 'usage' });
  });

  it('makes no object that has the size of a file, large ones but for their last chunk', async () => {
    const request = { remoteUrl: sandbox.path('usual'), encrypt: true };
    const { recoveryKey } = await initWorkspace(testContext(work, { environment: PASSWORD }), request);
    sandbox.write('work/middle', noise(6_000_000, 'f'));
    sandbox.write('work/large', noise(20_000_000, 'g'));
    await push(withPassword(work, recoveryKey!), {});
    expect(filesIn(sandbox.path('usual/packs'))).toHaveLength(1);
    const sizes = filesIn(sandbox.path('usual/objects')).map((path) => statSync(path).size);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.every((size) => size < 18_000_000)).toBe(true);
  });

  it('asks for the new password twice, and not again for opening what it made', async () => {
    const folder = sandbox.path('asked');
    mkdirSync(folder);
    const questions: string[] = [];
    const askPassword = (question: string) => {
      questions.push(question);
      return Promise.resolve('two herons');
    };
    const request = { remoteUrl: sandbox.path('newstore'), encrypt: true };
    await initWorkspace(testContext(folder, { askPassword }), request);
    expect(questions).toEqual(['New password: ', 'The same again: ']);
  });

  it('refuses a layout whose objects would be sent in parts', async () => {
    for (const layout of [{ kind: 'objects' }, { chunkAbove: 100 * 1024 * 1024 }] as const) {
      const request = { remoteUrl: sandbox.path('store'), encrypt: true, layout };
      await expect(initWorkspace(withPassword(work), request)).rejects.toMatchObject({ code: 'usage' });
    }
  });
});
