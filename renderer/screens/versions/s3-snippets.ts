/** Programs that read a version through `dray gateway`, ready to be copied. Pure. */
import type { VersionAccess } from '../../../engine/api/host/versions.ts';

export type SnippetKind = 'python' | 'duckdb' | 'rclone';

export interface SnippetKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** In place of a key that was not made yet, or of a secret that was not asked for. */
export const UNKNOWN_KEYS: SnippetKeys = { accessKeyId: 'ACCESS_KEY', secretAccessKey: 'SECRET_KEY' };

/** @param access Of a file, or of a folder, whose key ends in a slash. */
export function snippetOf(kind: SnippetKind, access: VersionAccess, keys: SnippetKeys): string {
  switch (kind) {
    case 'python':
      return pythonOf(access, keys);
    case 'duckdb':
      return duckdbOf(access, keys);
    case 'rclone':
      return rcloneOf(access, keys);
  }
}

function pythonOf({ bucket, endpoint, key }: VersionAccess, keys: SnippetKeys): string {
  const [text, name] = [JSON.stringify, nameOf(key)];
  const read = key.endsWith('/')
    ? [
        'pages = s3.get_paginator("list_objects_v2")',
        `for page in pages.paginate(Bucket=${text(bucket)}, Prefix=${text(key)}):`,
        '    for item in page.get("Contents", []):',
        '        print(item["Key"], item["Size"])',
      ]
    : [`s3.download_file(${text(bucket)}, ${text(key)}, ${text(name)})`];
  return [
    'import boto3',
    '',
    's3 = boto3.client(',
    '    "s3",',
    `    endpoint_url=${text(endpoint)},`,
    '    region_name="us-east-1",',
    `    aws_access_key_id=${text(keys.accessKeyId)},`,
    `    aws_secret_access_key=${text(keys.secretAccessKey)},`,
    ')',
    ...read,
  ].join('\n');
}

function duckdbOf({ bucket, endpoint, key }: VersionAccess, keys: SnippetKeys): string {
  const host = endpoint.replace(/^https?:\/\//, '');
  const path = `s3://${bucket}/${key}${key.endsWith('/') ? '**/*.parquet' : ''}`;
  return [
    'INSTALL httpfs;',
    'LOAD httpfs;',
    'CREATE SECRET dray (',
    `    TYPE s3, KEY_ID ${quote(keys.accessKeyId)}, SECRET ${quote(keys.secretAccessKey)},`,
    `    ENDPOINT ${quote(host)}, URL_STYLE 'path', USE_SSL ${endpoint.startsWith('https:')}`,
    ');',
    `SELECT * FROM ${quote(path)} LIMIT 10;`,
  ].join('\n');
}

function rcloneOf({ bucket, endpoint, key }: VersionAccess, keys: SnippetKeys): string {
  const path = `:s3:${bucket}/${key}`;
  const read = key.endsWith('/')
    ? `rclone copy ${quoteWord(path)} ${quoteWord(nameOf(key))}`
    : `rclone copyto ${quoteWord(path)} ${quoteWord(nameOf(key))}`;
  return [
    'export RCLONE_S3_PROVIDER=Other',
    `export RCLONE_S3_ENDPOINT=${endpoint}`,
    `export RCLONE_S3_ACCESS_KEY_ID=${keys.accessKeyId}`,
    `export RCLONE_S3_SECRET_ACCESS_KEY=${keys.secretAccessKey}`,
    read,
  ].join('\n');
}

/** The last part, which names what is read where it is written to. */
function nameOf(key: string): string {
  return key.split('/').findLast((part) => part !== '') ?? 'version';
}

/** A string of SQL. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** One word for a POSIX shell. */
function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
