import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PEER_NAMES, type PeerName } from '../machines/peers.ts';
import type { Contender, Place } from './contender.ts';
import { createDray, createDrayCopy, createPeer, s5cmdOneByOne } from './contenders.ts';
import {
  createRcloneByDefault,
  createRcloneCourier,
  rcloneByServerTime,
  rcloneWithoutListing,
} from './rclone.ts';

const SECRET = 'not for an argument';

function placeAt(endpoint: string, prefix: string): Place {
  return {
    bucket: 'dray-test',
    prefix,
    endpoint,
    serverEndpoint: endpoint,
    region: 'us-east-1',
    environment: { AWS_SECRET_ACCESS_KEY: SECRET, AWS_ENDPOINT_URL: endpoint },
    cacheFolder: '/bench/cache',
    storeFolder: '/bench/store',
    storesPlainFiles: true,
  };
}

const PLACE = placeAt('http://127.0.0.1:7070', 'run-1');
/** The same place through a latency. */
const FAR: Place = { ...PLACE, endpoint: 'http://127.0.0.1:7072' };
const OTHER = placeAt('http://127.0.0.1:7071', 'run-2');

function peer(name: PeerName): Contender {
  return createPeer({ name, path: `/bin/${name}`, version: '1' });
}

const RCLONE = peer('rclone');
const DEFAULTS = createRcloneByDefault({ name: 'rclone', path: '/bin/rclone', version: '1' });
const ALL = [createDray('1'), createDrayCopy('1'), DEFAULTS, ...PEER_NAMES.map(peer)];

describe('Every contender', () => {
  it("has a unique name, and gets the place's endpoint", () => {
    expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
    for (const contender of ALL) {
      const { args, environment } = contender.download(PLACE, '/copy');
      expect([...args, ...Object.values(environment)].join(' ')).toContain('dray-test');
      expect(JSON.stringify([args, environment])).toContain(PLACE.endpoint);
    }
  });

  it('gets its keys by the environment only', () => {
    for (const contender of ALL) {
      const commands = [
        contender.prepareUpload?.('/data', PLACE),
        contender.upload('/data', PLACE),
        contender.uploadAgain('/data', PLACE),
        contender.download(PLACE, '/copy'),
        contender.copyAcross?.(PLACE, OTHER, 'd0000/f00000'),
        contender.dryRun?.command('/data', PLACE),
        contender.dryRun?.syncBySize('/data', PLACE),
      ].filter((command) => command !== undefined);
      for (const { args, environment } of commands) {
        expect(args.join(' ')).not.toContain(SECRET);
        expect(environment.AWS_SECRET_ACCESS_KEY).toBe(SECRET);
      }
    }
  });
});

describe('dray copy', () => {
  const dray = createDrayCopy('1');

  it('keeps its cache of a place beside it, and no cache of a new folder', () => {
    expect(dray.upload('/data', PLACE).environment.DRAY_CACHE).toBe('/bench/cache');
    expect(dray.uploadAgain('/data', PLACE).environment.DRAY_CACHE).toBe('/bench/cache');
    expect(dray.download(PLACE, '/copy').environment.DRAY_CACHE).toBe('/copy.dray-cache');
  });

  it('names both services when it copies between them', () => {
    const args = dray.copyAcross?.(PLACE, OTHER, 'd0000/f00000').args.slice(1);
    expect(args).toEqual([
      ...['copy', 's3://dray-test/run-1/d0000/f00000', 's3://dray-test/run-2/d0000/f00000'],
      ...['--source-endpoint', PLACE.endpoint, '--dest-endpoint', OTHER.endpoint],
    ]);
  });
});

describe('rclone', () => {
  const has = (contender: Contender, option: string) =>
    contender.upload('/data', PLACE).args.includes(option);

  it('takes part with its defaults and with 32 transfers', () => {
    expect(has(DEFAULTS, '--transfers')).toBe(false);
    expect(RCLONE.upload('/data', PLACE).args.join(' ')).toContain('--transfers 32 --checkers 32');
  });

  it('uses a name for each service, so it never copies inside one', () => {
    const command = RCLONE.copyAcross?.(PLACE, OTHER, 'd0000/f00000');
    expect(command?.args.slice(0, 3)).toEqual([
      'copyto',
      'bench:dray-test/run-1/d0000/f00000',
      'other:dray-test/run-2/d0000/f00000',
    ]);
    expect(command?.environment).toMatchObject({
      RCLONE_CONFIG_BENCH_ENDPOINT: PLACE.endpoint,
      RCLONE_CONFIG_OTHER_ENDPOINT: OTHER.endpoint,
    });
  });

  it('has variants that differ only in the option that they are named for', () => {
    const again = rcloneByServerTime(RCLONE);
    expect(again.uploadAgain('/data', PLACE).args).toContain('--use-server-modtime');
    expect(again.upload('/data', PLACE)).toEqual(RCLONE.upload('/data', PLACE));
    const alone = rcloneWithoutListing(RCLONE);
    expect(alone.dryRun?.command('/data', PLACE).args).toContain('--no-traverse');
    expect(alone.dryRun?.syncBySize('/data', PLACE)).toEqual(RCLONE.dryRun?.syncBySize('/data', PLACE));
  });

  it("lists paths with the store's times as a carrier", () => {
    const courier = createRcloneCourier({ name: 'rclone', path: '/bin/rclone', version: '1' });
    expect(courier.list(PLACE).args).toEqual(
      expect.arrayContaining(['--format', 'pt', '--use-server-modtime']),
    );
  });
});

describe('aws', () => {
  it('sends 32 requests at once through a latency, by a config file', () => {
    const { AWS_CONFIG_FILE: file = '' } = peer('aws').upload('/data', FAR).environment;
    expect(readFileSync(file, 'utf8')).toContain('max_concurrent_requests = 32');
    expect(peer('aws').upload('/data', PLACE).environment).toEqual(PLACE.environment);
  });
});

describe('s5cmd', () => {
  it('decides by size and age, as its sync does, when it copies one by one', () => {
    const { dryRun } = s5cmdOneByOne(peer('s5cmd'));
    expect(dryRun?.command('/data', PLACE).args).toEqual([
      ...['--dry-run', 'cp', '-n', '-s', '-u', '/data/', 's3://dray-test/run-1/'],
    ]);
  });
});

/** The tools' output when f00001 has grown, f00003 is new, and only the place has f00002. */
const PRINTED = {
  'dray copy': `M d0000/f00001
A d0000/f00003
D d0000/f00002
Would copy 2 files (20 B) to s3://dray-test/run-1/, delete 1 file there. 1 unchanged. Nothing was changed.
It would take 3 requests, 20 B to send; looking took 1 request.
`,
  rclone: `2026/11/21 07:32:04 NOTICE: d0000/f00003: Skipped copy as --dry-run is set (size 3)
2026/11/21 07:32:04 NOTICE: d0000/f00001: Skipped copy as --dry-run is set (size 17)
2026/11/21 07:32:04 NOTICE: d0000/f00002: Skipped delete as --dry-run is set (size 11)
2026/11/21 07:32:04 NOTICE: 
Transferred:   	         20 B / 20 B, 100%, 0 B/s, ETA -
Checks:                 3 / 3, 100%, Listed 7
Deleted:                1 (files), 0 (dirs), 11 B (freed)
Transferred:            2 / 2, 100%
Elapsed time:         0.0s

`,
  s5cmd: `cp /tmp/probe/src/d0000/f00001 s3://dray-test/run-1/d0000/f00001
rm s3://dray-test/run-1/d0000/f00002
cp /tmp/probe/src/d0000/f00003 s3://dray-test/run-1/d0000/f00003
`,
} as const;

describe('The output of a dry run', () => {
  const printers = [createDrayCopy('1'), RCLONE, peer('s5cmd')];

  it.each(printers)('by $name yields the files to send and to remove', ({ name, dryRun }) => {
    const printed = PRINTED[name as keyof typeof PRINTED];
    const paths = [...(dryRun?.pathsNamed(printed, PLACE) ?? [])];
    expect(paths.sort()).toEqual(['d0000/f00001', 'd0000/f00002', 'd0000/f00003']);
  });

  it.each(printers)('by $name yields no names when there is nothing to do', ({ dryRun }) => {
    const nothing = 'Nothing to do: 1 file at s3://dray-test/run-1/ is the same. 1 request.\n';
    expect(dryRun?.pathsNamed(nothing, PLACE)).toEqual([]);
    expect(dryRun?.pathsNamed('', PLACE)).toEqual([]);
  });
});
