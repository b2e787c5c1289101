/**
 * Dray and the tools that people come from, on the same objects, on servers of two makes. The tools agree
 * with what Dray wrote, and Dray agrees with what they wrote. Missing tools are installed from their
 * registry.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { utimesSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FoundPeer, findPeer, type PeerName } from '../../bench/machines/peers.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import {
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { startMinio } from '../servers/minio.ts';
import { type S3Endpoint, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;
/** `npm test` installs one of them. */
const PEERS = runBudget<readonly PeerName[]>({ short: ['rclone'], long: ['rclone', 's5cmd', 'aws'] });

const FILES: Readonly<Record<string, Uint8Array>> = {
  'a.txt': Buffer.from('a'),
  empty: new Uint8Array(0),
  'folder/b & c (1).csv': Buffer.from('b\n'.repeat(1_000)),
  'folder/\u00fc\u{1f600}.bin': randomBytes(70_000),
  // Larger than any tool sends in one request, and no multiple of any part size.
  'folder/large.bin': randomBytes(70 * MIB + 12_345),
};

const found = new Map<PeerName, FoundPeer>();
let sandbox: Sandbox;
beforeAll(async () => {
  // In turn, because two installations into one folder would collide.
  for (const name of PEERS) found.set(name, await findPeer(name));
  sandbox = createSandbox();
  for (const [name, content] of Object.entries(FILES)) {
    const path = sandbox.write(`tree/${name}`, content);
    utimesSync(path, 1_600_000_000.25, 1_600_000_000.123456);
  }
});
afterAll(() => sandbox?.[Symbol.dispose]());

function describeOn(name: string, start: () => Promise<S3Endpoint>): void {
  describe(name, () => {
    let server: S3Endpoint;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());

    const tree = () => sandbox.path('tree');
    const url = (prefix: string) => `s3://${server.bucket}/${prefix}`;
    const contextOf = (cache: string): TestContext =>
      testContext(sandbox.folder, {
        environment: { ...server.environment, DRAY_CACHE: sandbox.path(`cache-${name}-${cache}`) },
      });

    /** Runs the tool and returns its output of both streams. Throws when the tool fails. */
    async function run(peer: PeerName, ...args: readonly string[]): Promise<string> {
      const tool = found.get(peer);
      if (!tool || 'missing' in tool) throw new Error(`${peer} is missing.`);
      const environment = {
        PATH: process.env.PATH,
        HOME: sandbox.folder,
        ...server.environment,
        AWS_DEFAULT_REGION: server.region,
        S3_ENDPOINT_URL: server.endpoint,
        RCLONE_CONFIG: '',
        RCLONE_CONFIG_S3_TYPE: 's3',
        RCLONE_CONFIG_S3_PROVIDER: name === 'MinIO' ? 'Minio' : 'Other',
        RCLONE_CONFIG_S3_ENV_AUTH: 'true',
        RCLONE_CONFIG_S3_ENDPOINT: server.endpoint,
        RCLONE_CONFIG_S3_REGION: server.region,
        RCLONE_CONFIG_S3_NO_CHECK_BUCKET: 'true',
      };
      const { stderr, stdout } = await promisify(execFile)(tool.path, args, { env: environment });
      return stdout + stderr;
    }
    const remote = (prefix: string) => `S3:${server.bucket}/${prefix}`;

    /** The reason why the test cannot run here, or ''. */
    function missing(peer: PeerName): string {
      const tool = found.get(peer);
      return tool && 'missing' in tool ? `${peer} is not available: ${tool.missing}` : '';
    }

    it('objects that Dray wrote are equal for rclone by content, size, hash and time', async ({ skip }) => {
      skip(missing('rclone') !== '', missing('rclone'));
      const request = { source: { place: tree() }, destination: { place: url('dray') } };
      expect(await copyTree(contextOf('up'), request)).toMatchObject({ copiedFiles: 5, failed: 0 });
      const read = await run('rclone', 'check', '--download', tree(), remote('dray'));
      expect(read).toContain('0 differences found');
      expect(read).toContain('5 matching files');
      expect(await run('rclone', 'check', tree(), remote('dray'))).toContain('0 differences found');
      const again = await run('rclone', 'copy', '-vv', tree(), remote('dray'));
      expect(again, 'sizes and times agree, so nothing is to be done').not.toMatch(
        /Copied|Updated modification time/,
      );
      expect(again).toContain('Unchanged skipping');
    });

    longIt('objects that Dray wrote are listed by aws s3 ls with their names and sizes', async ({ skip }) => {
      skip(missing('aws') !== '', missing('aws'));
      await copyTree(contextOf('up'), { source: { place: tree() }, destination: { place: url('dray') } });
      const listed = await run('aws', 's3', 'ls', '--recursive', `${url('dray')}/`);
      for (const [path, content] of Object.entries(FILES)) {
        expect(
          listed.split('\n').some((line) => line.endsWith(` ${content.length} dray/${path}`)),
          path,
        ).toBe(true);
      }
    });

    type Writer = readonly [PeerName, (place: string) => readonly string[]];
    const writers: readonly Writer[] = [
      ['rclone', (place) => ['copy', '--s3-upload-cutoff', '20M', tree(), remote(place)]],
      ['s5cmd', (place) => ['--log', 'error', 'cp', '--part-size', '6', `${tree()}/`, `${url(place)}/`]],
    ];
    it.for(writers.filter(([peer]) => PEERS.includes(peer)))(
      'objects that %s wrote are equal for Dray, are not sent again, and come back unchanged',
      async ([peer, argsFor], { skip }) => {
        skip(missing(peer) !== '', missing(peer));
        const place = `by-${peer}`;
        await run(peer, ...argsFor(place));
        const context = contextOf(peer);
        const pair = { source: { place: tree() }, destination: { place: url(place) } };
        expect(await checkTrees(context, pair)).toMatchObject({
          same: 5,
          differing: 0,
          uncertain: 0,
          failed: 0,
        });
        for (const { by, path, result } of eventsOf(context, 'compared')) {
          expect(result, path).toBe('same');
          expect(['crc64nvme', 'crc32', 'sha256', 'md5', 'md5OfParts'], path).toContain(by);
        }
        expect(await copyTree(contextOf(peer), pair)).toMatchObject({
          copiedFiles: 0,
          sentBytes: 0,
          unchangedFiles: 5,
        });
        const folder = sandbox.path(`back-${name}-${peer}`);
        const back = await copyTree(contextOf(peer), {
          source: pair.destination,
          destination: { place: folder },
        });
        expect(back).toMatchObject({ copiedFiles: 5, failed: 0 });
        const { stdout } = await promisify(execFile)('diff', ['-r', tree(), folder]);
        expect(stdout).toBe('');
      },
    );
  });
}

describeOn('versitygw', startVersitygw);
// Another make of server. The contract of stores runs against both in every run.
if (runBudget({ short: false, long: true })) describeOn('MinIO', startMinio);
