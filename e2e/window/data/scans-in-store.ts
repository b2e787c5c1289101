/** A repository in the slow store, to be cloned. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { writeLarge } from '../page/transfer-rows.ts';
import type { SlowStore } from './slow-store.ts';

const FILES = 8;
const FILE_BYTES = 2 * 1024 ** 2;

/** Pushes the repository `scans` into the store. Returns the contents of its files by their paths. */
export async function pushScans({ server }: SlowStore): Promise<ReadonlyMap<string, Buffer>> {
  const origin = join(server.dataFolder, '..', 'origin');
  mkdirSync(origin);
  const run = (...args: string[]) =>
    runCli(args, { cwd: origin, environment: { ...server.environment, DRAY_AUTHOR: 'tester' } });
  await run('init', '--remote', `s3://${server.bucket}/scans`);
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < FILES; at += 1) {
    const { bytes } = writeLarge(origin, `${at}`, FILE_BYTES);
    contents.set(`${at}/large.bin`, bytes);
  }
  expect((await run('push')).exitCode).toBe(0);
  return contents;
}
