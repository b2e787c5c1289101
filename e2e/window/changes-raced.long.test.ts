/**
 * A push from the Changes screen while another client pushes first: what the screen says, and that neither
 * side loses a change.
 */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { push } from '../../engine/jobs/push/push.ts';
import type { S3Dataset } from '../s3-dataset.ts';
import { isUpload, type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { noise, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser } from './open-window.ts';
import { openWorkspace, rowOf, WAIT } from './window-workspace.ts';

const MIB = 1024 * 1024;

describe.skipIf(!findChromium())('A push that another client precedes', () => {
  let browser: Browser;
  let server: S3Server;
  let gate: RequestGate;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchBrowser(), startVersitygw()]);
    gate = await startRequestGate(server.endpoint);
  });
  afterAll(() => Promise.all([browser?.close(), gate?.[Symbol.asyncDispose](), server?.stop()]));

  const open = ({ sandbox }: S3Dataset, endpoint = server.endpoint) =>
    openWorkspace(browser, {
      environment: { ...server.environment, AWS_ENDPOINT_URL: endpoint },
      root: sandbox.path(WORK),
      screen: '#/changes',
    });

  it('between scan and click merges when they changed different files', async () => {
    using dataset = await twoWriters(server, 'merged');
    const { sandbox } = dataset;
    sandbox.write(`${WORK}/ours.txt`, 'ours\n');
    await using window = await open(dataset);
    const { page } = window;
    await rowOf(page, 'ours.txt').waitFor();
    await pushTheirs(dataset, 'theirs.txt');
    await page.getByRole('button', { name: 'Push 1 change' }).click();
    await page.getByText('Pushed, and merged').waitFor();
    await expectMerged(dataset, { 'ours.txt': 'ours\n', 'theirs.txt': 'theirs\n' });
    await page.getByRole('link', { name: 'See what they changed' }).click();
    await page.getByRole('button', { name: 'Pull 1 change' }).click();
    await page.getByText('Pulled 1 change').waitFor();
    expect(readFileSync(sandbox.path(WORK, 'theirs.txt'), 'utf8')).toBe('theirs\n');
    expect(window.complaints).toEqual([]);
  });

  it('between scan and click stops at a conflict and leads to the choice of sides', async () => {
    using dataset = await twoWriters(server, 'conflict');
    const { sandbox } = dataset;
    sandbox.write(`${WORK}/notes/kept.md`, 'ours\n');
    await using window = await open(dataset);
    const { page } = window;
    await page.getByRole('button', { name: 'Push 1 change' }).waitFor();
    await pushTheirs(dataset, 'notes/kept.md');
    const before = (await dataset.cli('other', ['log'])).stdout;
    await page.getByRole('button', { name: 'Push 1 change' }).click();
    await page.getByText('both sides changed notes/kept.md').waitFor();
    expect((await dataset.cli('other', ['log'])).stdout).toBe(before);
    expect(readFileSync(sandbox.path(WORK, 'notes/kept.md'), 'utf8')).toBe('ours\n');

    await page.getByRole('link', { name: 'Choose sides' }).click();
    await page.getByText('1 still to decide').waitFor();
    await chooseForAll(page, 'Keep mine');
    await page.getByRole('button', { name: 'Pull 1 change' }).click();
    await page.getByText('Pulled').waitFor();
    expect(readFileSync(sandbox.path(WORK, 'notes/kept.md'), 'utf8')).toBe('ours\n');
    await page.getByRole('radio', { name: 'Push' }).click();
    await page.getByRole('button', { name: 'Push 1 change' }).click();
    await page.getByText('Pushed as commit').waitFor();
    await expectMerged(dataset, { 'notes/kept.md': 'ours\n' });
    expect((await dataset.cli('merged', ['log'])).stdout).toContain('Theirs');
    expect(window.complaints).toEqual([]);
  });

  it('during its upload merges as well', async () => {
    using dataset = await twoWriters(server, 'during');
    const { sandbox } = dataset;
    const large = noise(8 * MIB, 7);
    sandbox.write(`${WORK}/ours.bin`, large);
    await using window = await open(dataset, gate.endpoint);
    const { page } = window;
    await rowOf(page, 'ours.bin').waitFor();
    gate.hold(isUpload);
    await page.getByRole('button', { name: 'Push 1 change' }).click();
    await page.getByText('A push is running').waitFor();
    await expect.poll(gate.held, WAIT).toBeGreaterThan(0);
    await pushTheirs(dataset, 'theirs.txt');
    gate.release();
    await page.getByText('Pushed, and merged').waitFor();
    await expectMerged(dataset, { 'ours.bin': large, 'theirs.txt': 'theirs\n' });
    expect(window.complaints).toEqual([]);
  });
});

/** Makes the window's workspace and `other`, both at the first commit. */
async function twoWriters(server: S3Server, name: string): Promise<S3Dataset> {
  const dataset = await pushedDataset(server, name);
  await dataset.clone('other');
  return dataset;
}

async function pushTheirs(dataset: S3Dataset, path: string): Promise<void> {
  dataset.sandbox.write(`other/${path}`, 'theirs\n');
  const { result } = await push(dataset.context('other'), { message: 'Theirs' });
  expect(result).toBe('pushed');
}

/** Clones the branch as a third client and verifies it. */
async function expectMerged(
  dataset: S3Dataset,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  await dataset.clone('merged');
  for (const [path, content] of Object.entries(files))
    expect(readFileSync(dataset.sandbox.path('merged', path)).equals(Buffer.from(content)), path).toBe(true);
  expect(await dataset.cli('merged', ['verify', '--read-data'])).toMatchObject({ exitCode: 0 });
}

async function chooseForAll(page: Page, choice: string): Promise<void> {
  await page.getByRole('button', { name: 'For all conflicts' }).click();
  await page.getByRole('option', { name: choice }).click();
}
