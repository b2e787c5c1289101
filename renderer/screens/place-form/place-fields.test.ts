import { describe, expect, it } from 'vitest';
import { EMPTY_PLACE, fieldsOf, findFaults, findNameFault, profileFor, urlOf } from './place-fields.ts';

const LAB = { ...EMPTY_PLACE, name: 'lab', bucket: 'lab-data' };

describe('The form for a place', () => {
  it('makes the URL of a bucket, with only what was filled in', () => {
    expect(urlOf(LAB)).toBe('s3://lab-data');
    expect(
      urlOf({ ...LAB, prefix: '/a b/50%/', endpoint: 'http://127.0.0.1:9000/', pathStyle: 'false' }),
    ).toBe('s3://lab-data/a%20b/50%25?endpoint=http://127.0.0.1:9000&pathStyle=false');
  });

  it('makes the URL of a folder, of another machine, and of an address as it is', () => {
    expect(urlOf({ ...LAB, kind: 'folder', folder: '/srv/data' })).toBe('/srv/data');
    expect(urlOf({ ...LAB, kind: 'peer', host: 'lab:7443', prefix: 'raw' })).toBe('dray://lab:7443/raw');
    expect(urlOf({ ...LAB, kind: 'address', address: 's3://x/y?region=z' })).toBe('s3://x/y?region=z');
  });

  it('reads the URLs that it makes', () => {
    const fields = {
      ...LAB,
      prefix: 'a b/50%',
      endpoint: 'https://s3.example.org',
      region: 'eu',
      profile: 'rclone:lab',
    };
    expect(fieldsOf('lab', urlOf(fields))).toEqual(fields);
    expect(fieldsOf('lab', 'file:///srv/a%20b')).toMatchObject({ kind: 'folder', folder: '/srv/a b' });
    expect(fieldsOf('lab', 'dray://lab:7443/a%20b')).toMatchObject({ host: 'lab:7443', prefix: 'a b' });
    const address = 'dray://lab:7443?tls=off';
    expect(fieldsOf('lab', address)).toMatchObject({ kind: 'address', address });
  });

  it('shows what is missing beside each field', () => {
    const faultsOf = (change: object) => Object.keys(findFaults({ ...LAB, ...change }));
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ bucket: '', endpoint: 's3.example.org' })).toEqual(['bucket', 'endpoint']);
    expect(faultsOf({ typedKeys: { accessKeyId: '', secretAccessKey: '' } })).toEqual([
      'accessKeyId',
      'secretAccessKey',
    ]);
    expect(faultsOf({ kind: 'folder', folder: 'data' })).toEqual(['folder']);
    for (const folder of ['/data', 'C:\\data', '\\\\server\\share'])
      expect(faultsOf({ kind: 'folder', folder })).toEqual([]);
    expect(faultsOf({ kind: 'peer', host: 'lab' })).toEqual(['host']);
    expect(faultsOf({ kind: 'address', address: 'https://x' })).toEqual(['address']);
  });

  it('chooses a name that is free', () => {
    const taken = new Set(['lab']);
    expect(findNameFault('lab', taken)).toContain('already');
    expect(findNameFault('a b', taken)).toContain('Letters');
    expect(findNameFault('lab-2', taken)).toBeUndefined();
  });

  it('saves typed keys under a name of their own', () => {
    expect(profileFor(LAB, new Set())).toBe('lab');
    expect(profileFor({ ...LAB, name: '' }, new Set(['lab-data', 'lab-data-2']))).toBe('lab-data-3');
  });
});
