import { describe, expect, it } from 'vitest';
import type { Failed } from './failed.ts';
import { failureWords } from './failure-words.ts';
import { hostOf, isEncrypted, peerNeedOf } from './peer-need.ts';

const FINGERPRINT = Array(32).fill('A7').join(':');
const UNKNOWN: Failed = {
  code: 'unknownPeer',
  message: 'This machine has not connected to dray://nas:7370 before: --trust-new-peer',
  data: { address: 'nas:7370', fingerprint: FINGERPRINT },
};
const WITHOUT_TOKEN: Failed = {
  code: 'noCredentials',
  message: 'Run "dray login nas"',
  data: { address: 'dray://nas:7370?tls=off' },
};

describe('an error of another machine', () => {
  it('at the first connection asks to trust its fingerprint', () => {
    expect(peerNeedOf(UNKNOWN)).toEqual({ needs: 'trust', host: 'nas:7370', fingerprint: FINGERPRINT });
  });

  it('without a token asks for the token of this address', () => {
    const peer = 'dray://nas:7370?tls=off';
    const need = { needs: 'token', host: 'nas:7370', peer };
    expect(peerNeedOf(WITHOUT_TOKEN)).toEqual({ ...need, isRefused: false });
    const refused: Failed = { code: 'accessDenied', message: '401', data: { address: peer, status: 401 } };
    expect(peerNeedOf(refused)).toEqual({ ...need, isRefused: true });
    expect(failureWords(refused)).toContain('nas:7370 refused the token');
  });

  it('names no option or command that the window does not have', () => {
    for (const error of [UNKNOWN, WITHOUT_TOKEN]) {
      expect(failureWords(error)).toContain('nas:7370');
      expect(failureWords(error)).not.toMatch(/--|login/);
    }
  });

  it.each<[string, Failed]>([
    [
      'another certificate than before',
      { code: 'accessDenied', message: 'other', data: { peer: 'nas:7370', fingerprint: FINGERPRINT } },
    ],
    [
      'a read-only machine',
      { code: 'accessDenied', message: 'read-only', data: { address: 'dray://nas:7370', status: 403 } },
    ],
    ['a store without keys', { code: 'noCredentials', message: 'no keys', data: {} }],
    ['a store at an address', { code: 'noCredentials', message: 'no keys', data: { address: 'https://s3' } }],
    ['a first connection without a fingerprint', { ...UNKNOWN, data: { address: 'nas:7370' } }],
    ['any other failure', { message: 'It broke.' }],
  ])('gets no button when it is %s', (_what, error) => {
    expect(peerNeedOf(error)).toBeUndefined();
    expect(failureWords(error)).toBe(error.message);
  });

  it('names only the host of an address', () => {
    expect(['dray://nas:7370', 'dray://[::1]:7370?tls=off'].map(hostOf)).toEqual(['nas:7370', '[::1]:7370']);
    expect(['dray://nas:7370', 'dray://nas:7370?tls=off'].map(isEncrypted)).toEqual([true, false]);
  });
});
