import { describe, expect, it } from 'vitest';
import { EMPTY_FIELDS, fieldsOf, findFaults, urlOf } from './url-form.ts';

const NONE: ReadonlySet<string> = new Set();
const LAB = { ...EMPTY_FIELDS, name: 'lab', bucket: 'lab-data' };

describe('The form for a remote', () => {
  it('makes the URL of a bucket, with only what was filled in', () => {
    expect(urlOf(LAB)).toBe('s3://lab-data');
    expect(urlOf({ ...LAB, prefix: '/a b/50%/', endpoint: 'http://127.0.0.1:9000/', pathStyle: true })).toBe(
      's3://lab-data/a%20b/50%25?endpoint=http%3A%2F%2F127.0.0.1%3A9000&pathStyle=true',
    );
  });

  it('makes the URL of a folder and of another machine', () => {
    expect(urlOf({ ...LAB, kind: 'folder', folder: '/srv/data' })).toBe('/srv/data');
    expect(urlOf({ ...LAB, kind: 'peer', host: 'lab:7443', prefix: 'raw' })).toBe('dray://lab:7443/raw');
  });

  it('reads its own URLs again', () => {
    const fields = {
      ...LAB,
      prefix: 'a b/50%',
      endpoint: 'https://s3.example.org',
      region: 'eu',
      profile: 'lab',
    };
    expect(fieldsOf('lab', urlOf(fields))).toEqual(fields);
  });

  it('says what is missing, beside its field', () => {
    expect(Object.keys(findFaults(EMPTY_FIELDS, NONE))).toEqual(['name', 'bucket']);
    expect(findFaults(LAB, NONE)).toEqual({});
    expect(Object.keys(findFaults({ ...LAB, endpoint: 's3.example.org' }, new Set(['lab'])))).toEqual([
      'name',
      'endpoint',
    ]);
    expect(Object.keys(findFaults({ ...LAB, kind: 'folder', folder: 'data' }, NONE))).toEqual(['folder']);
    expect(Object.keys(findFaults({ ...LAB, kind: 'peer', host: 'lab' }, NONE))).toEqual(['host']);
  });
});
