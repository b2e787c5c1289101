/**
 * A download of a large object, killed half-way. The real command runs in a process of its own, and its link
 * holds the rest of the object, so the kill always comes before its end. The next run does not fetch what is
 * on disk already.
 */
import type { ChildProcess } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { type ByteCounter, startByteCounter } from '../servers/byte-counter.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;
const SIZE_BYTES = 160 * MIB;
/** The range size for a download of this size. */
const RANGE_BYTES = 8 * MIB;
const RANGES_BEFORE = 6;
const RANGES_AT_ONCE = 4;
/** All answers of a copy without their content. */
const ANSWER_HEADS_BYTES = 64 * 1024;

let server: S3Server;
let link: ByteCounter;
let sandbox: Sandbox;
let url: string;
beforeAll(async () => {
  server = await startVersitygw();
  link = await startByteCounter(Number(new URL(server.endpoint).port));
  sandbox = createSandbox();
  url = `s3://${server.bucket}/tree/`;
  const content = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(
    Buffer.alloc(SIZE_BYTES),
  );
  sandbox.write('source/large.bin', content);
  expect(await copy(['source', url])).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await link?.stop();
  await server?.stop();
});

function copy(parameters: readonly string[], onStarted: (child: ChildProcess) => void = () => {}) {
  const environment = {
    ...server.environment,
    AWS_ENDPOINT_URL: `http://127.0.0.1:${link.port}`,
    XDG_CACHE_HOME: sandbox.path('cache'),
  };
  return runCli(['copy', ...parameters], { cwd: sandbox.folder, environment, onStarted });
}

/** The number of ranges that the process has recorded as written. */
function notedRanges(folder: string): number {
  try {
    const temporary = join(folder, '.dray-tmp');
    const notes = readdirSync(temporary).find((name) => name.endsWith('.notes'));
    // The first line describes the object.
    return notes ? readFileSync(join(temporary, notes), 'utf8').split('\n').length - 2 : 0;
  } catch {
    return 0;
  }
}

const WAYS = [
  ['SIGKILL', 'ranges', RANGES_AT_ONCE],
  ['SIGINT', 'ranges', RANGES_AT_ONCE],
  ['SIGKILL', 'one request', 1],
  ['SIGINT', 'one request', 1],
] as const;

describe('A download of a large object', () => {
  // With `--transfers 1` a single request fetches the whole object.
  it.each(runBudget<readonly (typeof WAYS)[number][]>({ short: WAYS.slice(0, 1), long: WAYS }))(
    'that %s ended resumes from the bytes on disk (by %s)',
    async (signal, way, transfers) => {
      const name = `${signal} ${way}`;
      const folder = sandbox.path(name);
      mkdirSync(folder);
      link.holdAfter((RANGES_BEFORE + RANGES_AT_ONCE) * RANGE_BYTES);
      const killed = await copy([url, name, '--transfers', `${transfers}`], (child) => {
        void (async () => {
          while (child.exitCode === null && notedRanges(folder) < RANGES_BEFORE) await pause(5);
          child.kill(signal);
        })();
      });
      link.release();
      await link.idle();
      expect(killed.exitCode).not.toBe(0);
      expect(readdirSync(folder)).toEqual(['.dray-tmp']);
      const before = link.receivedBytes();
      expect(await copy([url, name])).toMatchObject({ exitCode: 0 });
      const received = link.receivedBytes() - before;
      expect(received).toBeGreaterThan(RANGE_BYTES);
      expect(received).toBeLessThan(SIZE_BYTES - RANGES_BEFORE * RANGE_BYTES + ANSWER_HEADS_BYTES);
      expect(readdirSync(folder)).toEqual(['large.bin']);
      const arrived = readFileSync(join(folder, 'large.bin'));
      expect(arrived.equals(readFileSync(sandbox.path('source/large.bin')))).toBe(true);
    },
  );
});
