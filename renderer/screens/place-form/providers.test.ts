import { describe, expect, it } from 'vitest';
import { EMPTY_PLACE, fieldsOf, findFaults, type PlaceFields, urlOf } from './place-fields.ts';
import type { ProviderId } from './providers.ts';

const ACCOUNT = '023e105f4ecef8ad9ca31a8372d0c353';
const placeAt = (provider: ProviderId, more: Partial<PlaceFields> = {}): PlaceFields => ({
  ...EMPTY_PLACE,
  name: 'lab',
  bucket: 'data',
  provider,
  ...more,
});

describe('A provider of object storage', () => {
  it.each<[PlaceFields, string]>([
    [placeAt('aws', { region: 'eu-central-1' }), 's3://data?region=eu-central-1'],
    [
      placeAt('r2', { account: ACCOUNT }),
      `s3://data?endpoint=https://${ACCOUNT}.r2.cloudflarestorage.com&region=auto&pathStyle=true`,
    ],
    [
      placeAt('r2', { account: ACCOUNT, jurisdiction: 'eu' }),
      `s3://data?endpoint=https://${ACCOUNT}.eu.r2.cloudflarestorage.com&region=auto&pathStyle=true`,
    ],
    [
      placeAt('minio', { endpoint: 'https://minio.example.org:9000/' }),
      's3://data?endpoint=https://minio.example.org:9000&region=us-east-1&pathStyle=true',
    ],
    [
      placeAt('b2', { region: 'us-west-004' }),
      's3://data?endpoint=https://s3.us-west-004.backblazeb2.com&region=us-west-004&pathStyle=true',
    ],
    [
      placeAt('wasabi', { region: 'eu-central-2' }),
      's3://data?endpoint=https://s3.eu-central-2.wasabisys.com&region=eu-central-2&pathStyle=true',
    ],
    [placeAt('google'), 's3://data?endpoint=https://storage.googleapis.com&region=auto&pathStyle=true'],
  ])('makes its endpoint, region and path style: %#', (fields, url) => {
    expect(findFaults(fields)).toEqual({});
    expect(urlOf(fields)).toBe(url);
  });

  it('is found again in the URL of a remote, except where the form would change the URL', () => {
    for (const fields of [
      placeAt('aws', { region: 'us-gov-west-1' }),
      placeAt('r2', { account: ACCOUNT, jurisdiction: 'fedramp' }),
      placeAt('b2', { region: 'eu-central-003' }),
      placeAt('wasabi', { region: 'ap-southeast-1' }),
      placeAt('google'),
    ])
      expect(urlOf(fieldsOf('lab', urlOf(fields)))).toBe(urlOf(fields));
    expect(fieldsOf('lab', urlOf(placeAt('b2', { region: 'us-west-004' })))).toMatchObject({
      provider: 'b2',
      region: 'us-west-004',
    });
    for (const url of [
      's3://data',
      's3://data?endpoint=https://s3.us-west-004.backblazeb2.com&region=other',
      's3://data?endpoint=https://minio.example.org:9000&region=us-east-1&pathStyle=true',
      's3://data?endpoint=https://s3.wasabisys.com&region=us-east-1',
      's3://data?endpoint=https://storage.googleapis.com&region=auto&pathStyle=false',
    ]) {
      expect(fieldsOf('lab', url).provider).toBe('any');
      expect(urlOf(fieldsOf('lab', url))).toBe(url);
    }
  });

  it('names what is missing or wrong', () => {
    expect(Object.keys(findFaults(placeAt('r2', { account: 'mine' })))).toEqual(['account']);
    expect(Object.keys(findFaults(placeAt('minio')))).toEqual(['endpoint']);
    for (const provider of ['aws', 'b2', 'wasabi'] as const)
      expect(Object.keys(findFaults(placeAt(provider, { region: 'Europe' })))).toEqual(['region']);
  });
});
