import { describe, expect, it } from 'vitest';
import { parseArguments } from './arguments.ts';
import { PEER_NAMES } from './machines/peers.ts';
import { createScenarios } from './scenarios/scenarios.ts';

describe('the arguments', () => {
  it('mean everything, five times, when there are none', () => {
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

  it('take names one by one or with commas', () => {
    const given = parseArguments(['--scenario', 'a,b', '--scenario', 'c', '--peers', 'restic,rclone']);
    expect(given.scenarios).toEqual(['a', 'b', 'c']);
    expect(given.peers).toEqual(['restic', 'rclone']);
    expect(parseArguments(['--peers', 'none']).peers).toEqual([]);
  });

  it('take servers, each once', () => {
    expect(parseArguments(['--server', 'versitygw,minio,minio']).servers).toEqual(['versitygw', 'minio']);
  });

  it('ask for the page of results, or for help before all else', () => {
    expect(parseArguments(['--results']).action).toBe('results');
    expect(parseArguments(['--results', '--help']).action).toBe('help');
  });

  it('name files to print, instead of measuring', () => {
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
  ])('refuse %j', (args) => {
    expect(() => parseArguments(args)).toThrow();
  });
});

describe('the scenarios', () => {
  it('keep their names and targets when they are quick, and say their true sizes', () => {
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
