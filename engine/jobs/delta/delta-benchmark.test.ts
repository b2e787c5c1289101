import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { DeltaBenchmarkSummary } from '../../api/jobs/peers.ts';
import { noise, plainPlace, startTestPeer, TEST_TOKEN, type TestPeer } from '../../peer/peer.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { benchmarkDelta } from './delta-benchmark.ts';
import { findRsync } from './local-rsync.ts';

const BLOCK = 4096;
const SIZE = 100 * BLOCK + 7;
const content = noise(SIZE, 1);

let sandbox: Sandbox;
let peer: TestPeer;
beforeEach(async () => {
  sandbox = createSandbox();
  sandbox.write('source/disk.img', content);
  sandbox.path('copies/file');
  peer = await startTestPeer();
});
afterEach(async () => {
  sandbox[Symbol.dispose]();
  await peer[Symbol.asyncDispose]();
});

const run = (source: string, destination: string, rows: number, more: object = {}) =>
  benchmarkDelta(testContext(sandbox.folder, { environment: { ...process.env, DRAY_TOKEN: TEST_TOKEN } }), {
    source: { place: source },
    destination: { place: destination },
    blockBytes: BLOCK,
    rows,
    ...more,
  });

/** Checks the shares, and that each row sent what was changed: one block more for the shorter file. */
function checkRows({ rows, sizeBytes }: DeltaBenchmarkSummary, shares: readonly number[]): void {
  expect(sizeBytes).toBe(SIZE);
  expect(rows.map(({ changedShare }) => changedShare)).toEqual(shares);
  for (const { changedBytes, changedShare, dray } of rows) {
    expect(Math.abs(changedBytes - changedShare * SIZE)).toBeLessThanOrEqual(BLOCK);
    expect(dray.sentBytes).toBe(changedBytes);
  }
}

describe('a benchmark of deltas', () => {
  it('changes the given shares, sends those, and leaves nothing, with rsync beside it if there is one', async () => {
    const rsync = await findRsync({ environment: process.env });
    for (const isInPlace of [false, true]) {
      const summary = await run('source/disk.img', 'copies/', 3, { isInPlace });
      checkRows(summary, [0, 0.5, 1]);
      expect(summary.rsyncVersion).toBe(rsync?.version);
      if (rsync) {
        const sent = summary.rows.map((row) => row.rsync!.sentBytes);
        expect(sent[0]).toBe(0);
        expect(sent[1]).toBeGreaterThan(0.4 * SIZE);
        expect(sent[2]).toBe(SIZE);
      }
    }
    expect(readdirSync(sandbox.path('copies'))).toEqual([]);
    expect(readFileSync(sandbox.path('source/disk.img')).equals(content)).toBe(true);
  });

  it('leaves an existing destination as it is', async () => {
    writeFileSync(sandbox.path('copies/disk.img'), 'mine');
    chmodSync(sandbox.path('source/disk.img'), 0o444);
    checkRows(await run('source/disk.img', 'copies/disk.img', 2), [0, 1]);
    expect(readdirSync(sandbox.path('copies'))).toEqual(['disk.img']);
    expect(readFileSync(sandbox.path('copies/disk.img'), 'utf8')).toBe('mine');
  });

  it('runs to a peer and from a peer, without rsync', async () => {
    const place = (path: string) => plainPlace(peer.port(), path);
    const to = await run('source/disk.img', place('below/'), 2);
    checkRows(to, [0, 1]);
    expect(to.rsyncVersion).toBeUndefined();
    expect(readdirSync(peer.root, { recursive: true }).filter((name) => `${name}`.includes('img'))).toEqual(
      [],
    );
    peer.write('remote.img', content);
    checkRows(await run(place('remote.img'), 'copies/', 2), [0, 1]);
    expect(readdirSync(sandbox.path('copies'))).toEqual([]);
  });

  it('leaves nothing when it fails', async () => {
    await expect(run('source/absent.img', 'copies/', 2)).rejects.toMatchObject({ code: 'notFound' });
    expect(readdirSync(sandbox.path('copies'))).toEqual([]);
  });

  it('is shown as a table, or as JSON', async () => {
    const parameters = ['delta', 'source/disk.img', 'copies/', '--benchmark', '2', '--block-size', '4K'];
    // No rsync on this path.
    const cli = (...more: string[]) =>
      runCli([...parameters, ...more], { cwd: sandbox.folder, environment: { PATH: sandbox.folder } });
    const { exitCode, stdout } = await cli();
    expect(exitCode).toBe(0);
    const rows = stdout.trim().split('\n');
    expect(rows[0]).toMatch(/^changed +dray sent +time +MiB\/s$/);
    expect(rows.slice(1, 3).map((row) => row.trim().split(/ {2,}/, 2))).toEqual([
      ['0 %', '0 B'],
      ['100 %', '400 KiB'],
    ]);
    const json = await cli('--json');
    const last = JSON.parse(json.stdout.trim().split('\n').at(-1)!);
    expect(last).toMatchObject({ type: 'summary', command: 'delta', sizeBytes: SIZE, blockBytes: BLOCK });
    expect(last.rows).toHaveLength(2);
    expect((await cli('--dry-run')).exitCode).toBe(2);
    expect((await cli('--benchmark', '1')).exitCode).toBe(2);
  });
});
