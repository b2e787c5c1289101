import { describe, expect, it } from 'vitest';
import type { Bench } from '../machines/bench.ts';
import { chooseHeats, listHeats, type Scenario } from './scenario.ts';

const TARGET = { kind: 'peakRss', of: 'dray', atMostBytes: 1 } as const;
const FAR_TARGET = { ...TARGET, atMostBytes: 2 } as const;
const opened: number[] = [];
const create = (name: string, more: Partial<Scenario> = {}): Scenario => ({
  name,
  title: `A ${name}`,
  targets: [TARGET],
  needs: { holdings: [] },
  open: async (_, latencyMs) => {
    opened.push(latencyMs);
    return [];
  },
  ...more,
});
const SCENARIOS = [
  create('copy', { latenciesMs: [0, 30], targetsThroughLatency: [FAR_TARGET], limitMs: 7 }),
  create('push'),
  create('scan', { isLocal: true }),
];

describe('the heats of scenarios', () => {
  it('are through the latencies that each is about when none are asked for', () => {
    expect(listHeats(SCENARIOS, undefined)).toMatchObject([
      { name: 'copy', scenario: 'copy', latencyMs: 0, title: 'A copy', targets: [TARGET], limitMs: 7 },
      {
        name: 'copy-30ms',
        scenario: 'copy',
        latencyMs: 30,
        title: 'A copy, through 30 ms of latency',
        targets: [FAR_TARGET],
        limitMs: 7,
      },
      { name: 'push', latencyMs: 0 },
      { name: 'scan', latencyMs: 0 },
    ]);
  });

  it('are through those that are asked for wherever there is a link', () => {
    const names = listHeats(SCENARIOS, [5, 100]).map(({ name }) => name);
    expect(names).toEqual(['copy-5ms', 'copy-100ms', 'push-5ms', 'push-100ms', 'scan']);
  });

  it('open their scenario through their own latency', async () => {
    for (const heat of listHeats(SCENARIOS.slice(0, 2), [0, 40])) await heat.open({} as Bench);
    expect(opened).toEqual([0, 40, 0, 40]);
  });
});

describe('heats by name', () => {
  const HEATS = listHeats(SCENARIOS, undefined);
  const choose = (...names: readonly string[]) => chooseHeats(HEATS, names).map(({ name }) => name);

  it('are all when none is asked for', () => {
    expect(choose()).toEqual(['copy', 'copy-30ms', 'push', 'scan']);
  });

  it('are those of a scenario through each of its latencies, or one of them', () => {
    expect(choose('copy')).toEqual(['copy', 'copy-30ms']);
    expect(choose('copy-30ms')).toEqual(['copy-30ms']);
  });

  it('are those that match, each once and in their order', () => {
    expect(choose('s*', 'c*', 'copy')).toEqual(['copy', 'copy-30ms', 'scan']);
    expect(choose('*-30ms')).toEqual(['copy-30ms']);
  });

  it('are refused when nothing matches, and a dot stands for itself', () => {
    expect(() => choose('push', 'x*')).toThrow('There is no scenario x*: copy, copy-30ms, push, scan.');
    expect(() => choose('pu.h')).toThrow('There is no scenario pu.h');
  });
});

describe('heats of a scenario with a server of its own', () => {
  it('have it, through each latency', () => {
    const heats = listHeats(
      [create('far', { server: 'minio', latenciesMs: [0, 30] }), create('near')],
      undefined,
    );
    expect(heats.map(({ name, server }) => [name, server])).toEqual([
      ['far', 'minio'],
      ['far-30ms', 'minio'],
      ['near', undefined],
    ]);
  });
});

describe('heats that no store takes part in', () => {
  it('are told: those that are so, and those that are local', () => {
    const heats = listHeats([...SCENARIOS, create('peer', { isWithoutStore: true })], undefined);
    expect(heats.filter((heat) => heat.isWithoutStore).map(({ name }) => name)).toEqual(['scan', 'peer']);
  });
});
