/** Tests other machines in the window: saved tokens, trust, and what a test sends where. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckEvent } from '../api/events.ts';
import type { AskOptions } from '../api/window/host-client.ts';
import { plainPlace, serveForTest, startTestPeer, TEST_TOKEN } from '../peer/peer.fixture.ts';
import { fingerprintOf } from '../peer/peer-certificate.ts';
import { ownCertificate } from '../peer/peer-own-certificate.ts';
import { createHostFixture, type HostFixture } from './host.fixture.ts';

const FINGERPRINT = Array(32).fill('A7').join(':');
const OTHER = Array(32).fill('B8').join(':');

let fixture: HostFixture;
beforeEach(() => {
  fixture = createHostFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const peers = async () => (await fixture.client.ask('peers.list', {})).peers;
const kept = (name: string) => JSON.parse(readFileSync(fixture.sandbox.path('config', name), 'utf8'));

describe('a token', () => {
  it('is saved for one host and port, in a file that only the user can read, and never returned', async () => {
    const { client, sandbox } = fixture;
    expect(await peers()).toEqual([]);
    expect(await client.ask('peers.login', { peer: 'NAS', token: 'secret-1' })).toEqual({
      address: 'dray://nas:7370',
    });
    await client.ask('peers.login', { peer: 'dray://nas:7371?tls=off', token: 'secret-2' });
    expect(kept('peer-tokens.json').tokens).toEqual({
      'dray://nas:7370': 'secret-1',
      'dray://nas:7371?tls=off': 'secret-2',
    });
    if (process.platform !== 'win32')
      expect(statSync(sandbox.path('config', 'peer-tokens.json')).mode & 0o777).toBe(0o600);
    const listed = await peers();
    expect(listed).toEqual([
      { address: 'dray://nas:7370', token: 'kept' },
      { address: 'dray://nas:7371?tls=off', token: 'kept' },
    ]);
    expect(JSON.stringify(listed)).not.toContain('secret');
    await client.ask('peers.logout', { peer: 'dray://nas:7370' });
    expect(await peers()).toEqual([{ address: 'dray://nas:7371?tls=off', token: 'kept' }]);
    await expect(client.ask('peers.logout', { peer: 'nas' })).rejects.toMatchObject({ code: 'notFound' });
  });

  it('from the environment is listed only for the machine that DRAY_TOKEN_HOST names', async () => {
    const { host } = fixture;
    host.setEnvironment({ ...host.environment, DRAY_TOKEN: 'x' });
    expect(await peers()).toEqual([]);
    host.setEnvironment({ ...host.environment, DRAY_TOKEN_HOST: 'nas' });
    expect(await peers()).toEqual([{ address: 'dray://nas:7370', token: 'environment' }]);
  });

  it.each([
    { peer: 'nas', token: '' },
    { peer: 'nas', token: 'two words' },
    { peer: 'nas', token: 'line\nbreak' },
    { peer: 'nas', token: 'x'.repeat(2_000) },
    { peer: 'a b', token: 'x' },
    { peer: 'nas:99999', token: 'x' },
    { peer: 's3://bucket', token: 'x' },
    { peer: 'nas' },
  ])('is refused as $peer and "$token"', async (input) => {
    await expect(fixture.client.ask('peers.login', input as never)).rejects.toMatchObject({ code: 'usage' });
    expect(await peers()).toEqual([]);
  });

  it('reports a damaged file instead of no tokens', async () => {
    const path = fixture.sandbox.path('config', 'peer-tokens.json');
    await fixture.client.ask('peers.login', { peer: 'nas', token: 'x' });
    writeFileSync(path, '{');
    await expect(peers()).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a machine', () => {
  it('is trusted by the shown fingerprint, and by no other afterwards', async () => {
    const { client } = fixture;
    const peer = { address: 'nas:7370', fingerprint: FINGERPRINT };
    await client.ask('peers.trust', peer);
    await client.ask('peers.trust', peer);
    expect(await peers()).toEqual([{ address: 'dray://nas:7370', fingerprint: FINGERPRINT }]);
    const other = client.ask('peers.trust', { ...peer, fingerprint: OTHER });
    await expect(other).rejects.toMatchObject({ code: 'accessDenied', data: { known: FINGERPRINT } });
    expect(kept('known-peers.json')).toEqual({ peers: { 'nas:7370': FINGERPRINT } });
  });

  it.each([
    { address: 'nas', fingerprint: FINGERPRINT },
    { address: 'NAS:7370', fingerprint: FINGERPRINT },
    { address: 'dray://nas:7370', fingerprint: FINGERPRINT },
    { address: '__proto__', fingerprint: FINGERPRINT },
    { address: 'nas:7370', fingerprint: '' },
    { address: 'nas:7370', fingerprint: FINGERPRINT.toLowerCase() },
    { address: 'nas:7370', fingerprint: `${FINGERPRINT}:A7` },
  ])('is refused as $address with "$fingerprint"', async (input) => {
    await expect(fixture.client.ask('peers.trust', input)).rejects.toMatchObject({ code: 'usage' });
    expect(await peers()).toEqual([]);
  });
});

describe('a test of another machine', () => {
  /** The errors of the failed checks. */
  const test = async (target: string, token?: string) => {
    const errors: NonNullable<CheckEvent['error']>[] = [];
    const onEvents: AskOptions['onEvents'] = (events) => {
      for (const event of events) if (event.type === 'check' && event.error) errors.push(event.error);
    };
    const input = token === undefined ? { target } : { target, token };
    const { failed } = await fixture.client.ask('remotes.test', input, { onEvents });
    expect(errors).toHaveLength(failed);
    return errors;
  };

  it('returns the fingerprint to compare, and passes with a typed token once the machine is trusted', async () => {
    const { client, sandbox } = fixture;
    sandbox.write('offered/a', 'content');
    const tls = await ownCertificate(sandbox.path('server'), 'there');
    const server = await serveForTest(sandbox.path('offered'), { tls });
    try {
      const host = `127.0.0.1:${server.address.port}`;
      const data = { address: host, fingerprint: fingerprintOf(tls.cert) };
      expect(await test(`dray://${host}`, TEST_TOKEN)).toMatchObject([{ code: 'unknownPeer', data }]);
      await client.ask('peers.trust', data);
      expect(await test(`dray://${host}`, TEST_TOKEN)).toEqual([]);
      // It was only for these tests.
      expect(await peers()).toEqual([{ address: `dray://${host}`, fingerprint: data.fingerprint }]);
      await expect(test(`dray://${host}`, 'two words')).rejects.toMatchObject({ code: 'usage' });
    } finally {
      await server.close();
    }
  });

  it('names the address whose token is missing or refused', async () => {
    await using peer = await startTestPeer();
    const place = plainPlace(peer.port());
    expect(await test(place)).toMatchObject([{ code: 'noCredentials', data: { address: place } }]);
    const refused = { code: 'accessDenied', data: { address: place, status: 401 } };
    expect(await test(place, 'wrong')).toMatchObject([refused]);
  });

  it('sends no token to a place that is not a machine', async () => {
    for (const target of ['s3://bucket', '/folder'])
      await expect(test(target, 'x')).rejects.toMatchObject({ code: 'usage' });
  });
});
