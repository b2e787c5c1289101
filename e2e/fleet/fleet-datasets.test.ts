/** Versioned datasets and a fleet: a real Temporal server, a real S3 server, and two workers as processes. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type Fleet, type FleetWorker, openFleet } from './open-fleet.ts';

let fleet: Fleet;
let sandbox: Sandbox;
let workers: readonly FleetWorker[];
const place = (prefix: string) => `s3://${fleet.s3.bucket}/${prefix}`;
const path = (name: string) => join(fleet.s3.dataFolder, fleet.s3.bucket, name);
const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
const context = (folder: string) =>
  testContext(folder, { environment: { ...fleet.s3.environment, DRAY_AUTHOR: 'tester' } });

async function openWorkspace(repository: string): Promise<string> {
  const root = sandbox.path(`${repository}-work`);
  mkdirSync(root, { recursive: true });
  const layout = { packBelow: 8, chunkAbove: 100 };
  await initWorkspace(context(root), { remoteUrl: place(repository), layout });
  return root;
}

beforeAll(async () => {
  fleet = await openFleet();
  sandbox = createSandbox();
  workers = [await fleet.startWorker(), await fleet.startWorker()];
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await fleet?.[Symbol.asyncDispose]();
});

describe('a fleet of two workers', () => {
  it('verifies a repository with both, and reports what is missing by the exit code', async () => {
    const root = await openWorkspace('verified');
    for (let commit = 0; commit < 12; commit += 1) {
      for (let at = 0; at < 10; at += 1)
        sandbox.write(`verified-work/${commit}/${at}`, `content ${commit} ${at}`);
      await push(context(root), {});
    }
    const small = ['--part-files', '20', '--read-data', '--json'];
    const whole = await fleet.run('verify', place('verified'), ...small);
    expect(whole, whole.stdout + whole.stderr).toMatchObject({ exitCode: 0 });
    expect(whole.summary).toMatchObject({ result: 'done', counts: { commits: 12, missing: 0, damaged: 0 } });
    for (const { lines } of workers)
      expect(lines.filter(({ state, step }) => step === 'runPart' && state === 'ended')).not.toEqual([]);
    const [object] = filesBelow(path('verified/objects'));
    rmSync(object!);
    const lost = await fleet.run('verify', place('verified'), 'main', '--id', 'lost');
    expect(lost, lost.stdout + lost.stderr).toMatchObject({ exitCode: 1 });
    expect(lost.stdout).toContain('1 missing and 0 damaged');
    const findings = filesBelow(path('verified/.dray-fleet/lost/failures'));
    const lines = findings.map((name) => JSON.parse(readFileSync(name, 'utf8')));
    expect(lines).toMatchObject([{ check: 'missing', paths: [expect.any(String)] }]);
    const stored = await fleet.temporal.stored();
    expect(stored.includes(lines[0].paths[0])).toBe(false);
    expect(stored.includes(lines[0].detail)).toBe(false);
  });
});
