import { describe, expect, it } from 'vitest';
import { parseArguments } from './arguments.ts';
import { PEER_NAMES } from './machines/peers.ts';
import { createScenarios } from './scenarios/scenarios.ts';

describe('The arguments', () => {
  it('select every scenario, five runs each, when there are none', () => {
    expect(parseArguments([])).toMatchObject({
      scenarios: [],
      peers: PEER_NAMES,
      runs: 5,
      latenciesMs: undefined,
      isQuick: false,
      servers: undefined,
      store: 'memory',
      isContinued: false,
      action: 'run',
    });
  });

  it('accept names as separate arguments or with commas', () => {
    const given = parseArguments(['--scenario', 'a,b', '--scenario', 'c', '--peers', 'restic,rclone']);
    expect(given.scenarios).toEqual(['a', 'b', 'c']);
    expect(given.peers).toEqual(['restic', 'rclone']);
    expect(parseArguments(['--peers', 'none']).peers).toEqual([]);
  });

  it('accept each server once', () => {
    expect(parseArguments(['--server', 'versitygw,minio,minio']).servers).toEqual(['versitygw', 'minio']);
  });

  it('select the results page or the help before everything else', () => {
    expect(parseArguments(['--results']).action).toBe('results');
    expect(parseArguments(['--results', '--help']).action).toBe('help');
  });

  it('name files to print instead of measuring', () => {
    const given = parseArguments(['--from', 'a.json', '--from', 'b.json']);
    expect(given).toMatchObject({ action: 'show', from: ['a.json', 'b.json'] });
    expect(parseArguments(['--json', 'a.json'])).toMatchObject({
      action: 'run',
      from: [],
      jsonFile: 'a.json',
    });
  });

  it.each([
    [['--runs', '0']],
    [['--runs', '1.5']],
    [['--latency', 'far']],
    [['--latency', '-1']],
    [['--peers', 'cp']],
    [['--store', 'tape']],
    [['--server', 'ftp']],
    [['--server', 'minio,ftp']],
    [['--server', '']],
    [['--unheard-of']],
  ])('are refused when they are %j', (args) => {
    expect(() => parseArguments(args)).toThrow();
  });
});

describe('The scenarios', () => {
  it('keep their names and targets with --quick, and state their true sizes', () => {
    const [full, quick] = [createScenarios({ isQuick: false }), createScenarios({ isQuick: true })];
    expect(quick.map(({ name }) => name)).toEqual(full.map(({ name }) => name));
    expect(new Set(full.map(({ name }) => name)).size).toBe(full.length);
    for (const [index, { title, targets }] of full.entries()) {
      expect(targets.length).toBeGreaterThan(0);
      expect(quick[index]?.targets).toHaveLength(targets.length);
      expect(quick[index]?.title).not.toBe(title);
    }
  });
});
