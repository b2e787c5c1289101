import { describe, expect, it } from 'vitest';
import type { VersionAccess } from '../../../engine/api/host/versions.ts';
import { snippetOf, UNKNOWN_KEYS } from './s3-snippets.ts';

const access: VersionAccess = {
  command: 'dray gateway s3://data/birds',
  endpoint: 'http://127.0.0.1:9400',
  bucket: 'birds',
  ref: 'v1',
  key: 'v1/photos/',
};

describe('a snippet for S3 clients', () => {
  it('lists a folder, or reads a file under its own name', () => {
    const file = { ...access, key: 'v1/photos/1.jpg' };
    expect(snippetOf('python', access, UNKNOWN_KEYS)).toContain('Prefix="v1/photos/"');
    expect(snippetOf('python', file, UNKNOWN_KEYS)).toContain(
      's3.download_file("birds", "v1/photos/1.jpg", "1.jpg")',
    );
    expect(snippetOf('duckdb', access, UNKNOWN_KEYS)).toContain("'s3://birds/v1/photos/**/*.parquet'");
    expect(snippetOf('duckdb', file, UNKNOWN_KEYS)).toContain("ENDPOINT '127.0.0.1:9400'");
    expect(snippetOf('rclone', access, UNKNOWN_KEYS)).toContain(
      "rclone copy ':s3:birds/v1/photos/' 'photos'",
    );
    expect(snippetOf('rclone', file, UNKNOWN_KEYS)).toContain(
      "rclone copyto ':s3:birds/v1/photos/1.jpg' '1.jpg'",
    );
  });

  it('quotes names as its language does', () => {
    const odd = { ...access, key: `v1/it's "$HOME".csv` };
    expect(snippetOf('python', odd, UNKNOWN_KEYS)).toContain(String.raw`"v1/it's \"$HOME\".csv"`);
    expect(snippetOf('duckdb', odd, UNKNOWN_KEYS)).toContain(`'s3://birds/v1/it''s "$HOME".csv'`);
    expect(snippetOf('rclone', odd, UNKNOWN_KEYS)).toContain(`':s3:birds/v1/it'\\''s "$HOME".csv'`);
  });
});
