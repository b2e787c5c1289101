import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Place } from './contender.ts';
import { createDvc } from './dvc.ts';
import { dvcProjectOf } from './dvc-project.ts';
import { countDvcLacking, writeDvcProject } from './dvc-query.ts';

const PLACE: Place = {
  bucket: 'dray-test',
  prefix: 'run-1',
  endpoint: 'http://127.0.0.1:7070',
  serverEndpoint: 'http://127.0.0.1:7070',
  region: 'us-east-1',
  environment: {},
  cacheFolder: '/bench/cache',
  storeFolder: '/bench/store',
  storesPlainFiles: true,
};
const DVC = createDvc({ name: 'dvc', path: '/bin/dvc', version: '3' });

describe('DVC', () => {
  it('gets the current endpoint in each command', () => {
    const far: Place = { ...PLACE, endpoint: 'http://127.0.0.1:9' };
    for (const command of [DVC.uploadAgain('/data', far), DVC.download(far, '/copy')])
      expect(command.args.join(' ')).toContain('endpointurl = http://127.0.0.1:9\n');
  });

  it('shares no state between folders', () => {
    const [here, there] = [DVC.upload('/data', PLACE), DVC.download(PLACE, '/copy')];
    expect(here.args.join(' ')).toContain('dir = /bench/cache/dvc\n');
    expect(there.args.join(' ')).toContain('dir = /copy.dvc-project/cache\n');
    expect(here.environment.DVC_SITE_CACHE_DIR).toBe('/bench/cache/dvc/site');
    expect(there.environment.DVC_SITE_CACHE_DIR).toBe('/copy.dvc-project/cache/site');
  });
});

describe('A written DVC project', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dray-dvc-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('equals the output of `dvc add` 3.67.1 for the same files', () => {
    const project = dvcProjectOf({ ...PLACE, cacheFolder: folder });
    const hashes = new Map([
      ['d0001/f3', 'aa6ed9e0f26a6eba784aae8267df1951'],
      ['d0000/f1', 'b026324c6904b2a9cb4b88d6d61c81d1'],
      ['d0000/f2', '26ab0db90d72e28ad0ba1e22ee510510'],
      ['d0000/f3', '6d7fce9fee471194aa8b5b6e47267f03'],
      ['d0001/f2', '2737b49252e2a4c0fe4c342e92b13285'],
      ['d0001/f1', '166d77ac1b46a1ec38aa35ab7e628ab5'],
    ]);
    writeDvcProject({ hashes }, project);
    const tracked = readFileSync(join(project.folder, 'data.dvc'), 'utf8');
    expect(tracked).toContain('- md5: 9085d895e7c36139b361c5b996213748.dir\n');
    const object = join(project.cacheFolder, 'files/md5/90/85d895e7c36139b361c5b996213748.dir');
    expect(readFileSync(object, 'utf8')).toContain(
      '[{"md5": "b026324c6904b2a9cb4b88d6d61c81d1", "relpath": "d0000/f1"}, ',
    );
  });
});

describe('The files that DVC reports as missing', () => {
  it('are counted without the list of them', () => {
    expect(countDvcLacking('{"data": "new", "data/d0000/f1": "new", "data/d0000/f2": "new"}\n')).toBe(2);
    expect(countDvcLacking('{}')).toBe(0);
  });

  it('are refused in any other output', () => {
    expect(() => countDvcLacking('{"data/d0000/f1": "deleted"}')).toThrow('something else');
    expect(() => countDvcLacking('Everything is up to date.')).toThrow('nothing');
  });
});
