import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PeerRemoteUrl, parseRemoteUrl, type UrlOrigin } from '../remote-url.ts';
import { keepToken, tokenFor } from './peer-tokens.ts';

let parent: string;
let folder: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'dray-tokens-'));
  folder = join(parent, 'settings');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const NONE = expect.objectContaining({
  code: 'noCredentials',
  message: expect.stringContaining('dray login'),
});
const urlOf = (text: string, from: UrlOrigin) => parseRemoteUrl(text, '/', { from }) as PeerRemoteUrl;
const tokenOf = (
  text: string,
  { from = 'elsewhere', ...environment }: { readonly from?: UrlOrigin } & Record<string, string> = {},
) => tokenFor(urlOf(text, from), { environment, folder });

describe('The token for a peer', () => {
  it('is the one saved for its host, port and encryption, and never that of another', () => {
    keepToken(folder, 'dray://nas:7370', 'of-nas');
    keepToken(folder, 'dray://nas:7371', 'of-7371');
    keepToken(folder, 'dray://[::1]:7370', 'of-here');
    expect(tokenOf('dray://nas/photos')).toBe('of-nas');
    expect(tokenOf('dray://NAS:7370')).toBe('of-nas');
    expect(tokenOf('dray://nas:7370?tls=on')).toBe('of-nas');
    expect(tokenOf('dray://nas:7371')).toBe('of-7371');
    expect(tokenOf('dray://[::1]/')).toBe('of-here');
    for (const other of ['dray://evil/', 'dray://nas.evil/', 'dray://nas:7372', 'dray://nas:7370?tls=off'])
      expect(() => tokenOf(other), other).toThrow(NONE);
  });

  it.each([
    ['dray://nas:7370?tls=off', 'dray://nas:7370'],
    ['dray://nas:7370', 'dray://nas:7370?tls=off'],
  ])('saved for %s is not sent to %s', (kept, other) => {
    keepToken(folder, kept, 'kept');
    expect(tokenOf(kept)).toBe('kept');
    expect(() => tokenOf(other)).toThrow(NONE);
  });

  it('comes from the environment for a typed URL, and for no other unless DRAY_TOKEN_HOST names it', () => {
    const DRAY_TOKEN = 'of-environment';
    expect(tokenOf('dray://nas/', { from: 'typed', DRAY_TOKEN })).toBe(DRAY_TOKEN);
    for (const from of ['user', 'elsewhere'] as const) {
      expect(() => tokenOf('dray://nas/', { from, DRAY_TOKEN })).toThrow(NONE);
      for (const DRAY_TOKEN_HOST of ['nas', 'nas:7370', 'NAS', 'dray://nas', 'dray://nas:7370/photos'])
        expect(tokenOf('dray://nas/', { from, DRAY_TOKEN, DRAY_TOKEN_HOST })).toBe(DRAY_TOKEN);
      for (const DRAY_TOKEN_HOST of ['evil', 'nas:7371', 'dray://nas?tls=off'])
        expect(() => tokenOf('dray://nas/', { from, DRAY_TOKEN, DRAY_TOKEN_HOST })).toThrow(NONE);
    }
    // A token with DRAY_TOKEN_HOST for one peer is not used for another typed one.
    const named = { DRAY_TOKEN, DRAY_TOKEN_HOST: 'nas' };
    expect(() => tokenOf('dray://evil/', { from: 'typed', ...named })).toThrow(NONE);
    expect(() => tokenOf('dray://nas/', { DRAY_TOKEN, DRAY_TOKEN_HOST: 'n a s' })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });

  it("is read from a file that the environment or a URL of the user's own names", () => {
    const file = join(parent, 'token');
    writeFileSync(file, 'of-file\n');
    const url = `dray://nas/?tokenFile=${file}`;
    for (const from of ['typed', 'user'] as const) expect(tokenOf(url, { from })).toBe('of-file');
    expect(() => tokenOf(url)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(tokenOf('dray://nas/', { from: 'typed', DRAY_TOKEN_FILE: file })).toBe('of-file');
    expect(() => tokenOf('dray://nas/', { from: 'typed', DRAY_TOKEN_FILE: join(parent, 'no') })).toThrow(
      expect.objectContaining({ code: 'noCredentials', data: { path: join(parent, 'no') } }),
    );
  });

  it.each(['two words', 'line\nbreak', 'x\r\nhost: evil', 'ключ', 'x'.repeat(2_000)])(
    'is refused with its source if no header can carry it: %j',
    (token) => {
      const refusal = (from: string) =>
        expect.objectContaining({ code: 'usage', message: expect.stringContaining(from) });
      expect(() => tokenOf('dray://nas/', { from: 'typed', DRAY_TOKEN: token })).toThrow(
        refusal('DRAY_TOKEN'),
      );
      const file = join(parent, 'token');
      writeFileSync(file, token);
      expect(() => tokenOf('dray://nas/', { from: 'typed', DRAY_TOKEN_FILE: file })).toThrow(refusal(file));
      const url = `dray://nas/?tokenFile=${file}`;
      expect(() => tokenOf(url, { from: 'typed' })).toThrow(refusal(file));
    },
  );

  it('that was saved goes before one of the environment without a host', () => {
    keepToken(folder, 'dray://nas:7370', 'kept');
    expect(tokenOf('dray://nas/', { from: 'typed', DRAY_TOKEN: 'other' })).toBe('kept');
    expect(tokenOf('dray://nas/', { DRAY_TOKEN: 'named', DRAY_TOKEN_HOST: 'nas' })).toBe('named');
  });
});

describe('The file of saved tokens', () => {
  it.skipIf(process.platform === 'win32')('is readable only by its owner, and so is its folder', () => {
    keepToken(folder, 'dray://nas:7370', 'kept');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'peer-tokens.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['peer-tokens.json']);
    chmodSync(join(folder, 'peer-tokens.json'), 0o640);
    expect(() => tokenOf('dray://nas/')).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('chmod 600') }),
    );
  });

  it('removes one token and keeps the others', () => {
    keepToken(folder, 'dray://nas:7370', 'a');
    keepToken(folder, 'dray://lab:7370', 'b');
    expect(keepToken(folder, 'dray://nas:7370', undefined)).toBe(true);
    expect(keepToken(folder, 'dray://nas:7370', undefined)).toBe(false);
    expect(() => tokenOf('dray://nas/')).toThrow(NONE);
    expect(tokenOf('dray://lab/')).toBe('b');
  });

  it.each(['{', '[]', '{"tokens":5}', '{"tokens":{"dray://nas:7370":5}}', 'null'])(
    'that is damaged (%s) is reported, sends nothing, and is not overwritten',
    (text) => {
      keepToken(folder, 'dray://nas:7370', 'a');
      const path = join(folder, 'peer-tokens.json');
      writeFileSync(path, text);
      const damaged = expect.objectContaining({ code: 'usage', data: { path } });
      expect(() => tokenOf('dray://nas/')).toThrow(damaged);
      expect(() => keepToken(folder, 'dray://nas:7370', 'b')).toThrow(damaged);
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );
});
