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

describe('The heats of scenarios', () => {
  it("use each scenario's own latencies by default", () => {
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

  it('use the requested latencies wherever there is a link', () => {
    const names = listHeats(SCENARIOS, [5, 100]).map(({ name }) => name);
    expect(names).toEqual(['copy-5ms', 'copy-100ms', 'push-5ms', 'push-100ms', 'scan']);
  });

  it('open their scenario through their own latency', async () => {
    for (const heat of listHeats(SCENARIOS.slice(0, 2), [0, 40])) await heat.open({} as Bench);
    expect(opened).toEqual([0, 40, 0, 40]);
  });
});

describe('The heats of a name', () => {
  const HEATS = listHeats(SCENARIOS, undefined);
  const choose = (...names: readonly string[]) => chooseHeats(HEATS, names).map(({ name }) => name);

  it('are all heats without a name', () => {
    expect(choose()).toEqual(['copy', 'copy-30ms', 'push', 'scan']);
  });

  it("are a scenario's heats for all its latencies, or for one", () => {
    expect(choose('copy')).toEqual(['copy', 'copy-30ms']);
    expect(choose('copy-30ms')).toEqual(['copy-30ms']);
  });

  it('are the matching ones, each once and in order', () => {
    expect(choose('s*', 'c*', 'copy')).toEqual(['copy', 'copy-30ms', 'scan']);
    expect(choose('*-30ms')).toEqual(['copy-30ms']);
  });

  it('are refused when none matches, and a dot is no wildcard', () => {
    expect(() => choose('push', 'x*')).toThrow('There is no scenario x*: copy, copy-30ms, push, scan.');
    expect(() => choose('pu.h')).toThrow('There is no scenario pu.h');
  });
});

describe('The heats of a scenario with its own server', () => {
  it('use that server for each latency', () => {
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

describe('Heats without a store', () => {
  it('are marked: those of such scenarios and the local ones', () => {
    const heats = listHeats([...SCENARIOS, create('peer', { isWithoutStore: true })], undefined);
    expect(heats.filter((heat) => heat.isWithoutStore).map(({ name }) => name)).toEqual(['scan', 'peer']);
  });
});
