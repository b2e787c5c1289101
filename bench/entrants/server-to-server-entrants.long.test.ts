import { appendFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathOfFile, shapeOfSizes } from '../data/dataset.ts';
import type { Bench } from '../machines/bench.ts';
import { SERVER_NAMES } from '../machines/bench-servers.ts';
import { runUnmeasured } from '../machines/measure.ts';
import { DRAY_FROM_SOURCES, openSmallBench } from '../machines/small-bench.ts';
import { roomOf } from '../scenarios/room.ts';
import type { Contender, ContenderName } from './contender.ts';
import { openAcross } from './server-to-server-entrants.ts';

const OBJECT_BYTES = 200_000;

const { copyAcross: _, ...rest } = DRAY_FROM_SOURCES;
const CONTENDERS = new Map<ContenderName, Contender>([
  ['dray copy', DRAY_FROM_SOURCES],
  ['s5cmd', { ...rest, name: 's5cmd' }],
]);

describe.each(SERVER_NAMES)('Copies from one server to another, both %s,', (server) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench({ server, contenders: CONTENDERS });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const open = () =>
    openAcross(bench, {
      shape: shapeOfSizes([OBJECT_BYTES]),
      contenders: ['dray copy', 's5cmd', 'rclone'],
      latencyMs: 0,
    });

  it('write to a new place each, which is checked and removed', async () => {
    const [entrant] = await open();
    await entrant?.setUp?.();
    const endpoints = new Set<string>();
    for (let round = 0; round < 2; round += 1) {
      const attempt = await entrant!.prepare();
      const run = await bench.meter.run(attempt.command, bench.signal);
      await attempt.check(run, null);
      await attempt.close();
      const { args } = attempt.command;
      endpoints.add(`${args.at(-3)} ${args.at(-1)}`);
    }
    expect(endpoints.size).toBe(1);
    expect([...endpoints][0]).not.toContain(bench.server.endpoint);
  });

  it('fail when nothing arrived', async () => {
    const [entrant] = await open();
    const attempt = await entrant!.prepare();
    await expect(attempt.check({ wallMs: 0, cpuMs: 0, peakRssBytes: 0, output: '' }, null)).rejects.toThrow();
    await attempt.close();
  });

  it('exclude tools that copy only within one server', async () => {
    const field = await open();
    expect(field.map(({ name, missing }) => [name, missing])).toEqual([
      ['dray copy', undefined],
      ['s5cmd', 's5cmd copies within one server alone'],
    ]);
    await expect(field[1]?.prepare()).rejects.toThrow('within one server');
  });
});

describe('The check of a copy between servers', () => {
  it('finds different content in the same object', async () => {
    await using bench = await openSmallBench({ contenders: CONTENDERS });
    const [entrant] = await openAcross(bench, {
      shape: shapeOfSizes([OBJECT_BYTES]),
      contenders: ['dray copy'],
      latencyMs: 0,
    });
    const attempt = await entrant!.prepare();
    await runUnmeasured(attempt.command, bench.signal);
    const { destination } = await bench.newPlacePair(roomOf(shapeOfSizes([OBJECT_BYTES]), 3));
    const bucket = dirname(destination.storeFolder);
    const [prefix] = (await readdir(bucket)).filter((name) => name.startsWith('run-'));
    await appendFile(join(bucket, prefix ?? '', pathOfFile(0)), 'x');
    const run = { wallMs: 0, cpuMs: 0, peakRssBytes: 0, output: '' };
    await expect(attempt.check(run, null)).rejects.toThrow('not what was sent');
    await attempt.close();
    expect((await readdir(bucket)).filter((name) => name.startsWith('run-'))).toEqual([]);
  });
});
