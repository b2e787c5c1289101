import { describe, expect, it } from 'vitest';
import { isMeasured, joinEnvironments } from './continue-run.ts';
import type { ScenarioResult } from './page/results.ts';

const ENVIRONMENT = { date: '2026-11-21', machine: '2 cores', server: 'versitygw', dray: '0.1.0 (abc)' };
const EARLIER = { environment: ENVIRONMENT, isQuick: false };

function resultOf(name: string, more: Partial<ScenarioResult> = {}): ScenarioResult {
  const startedAt = '2026-11-21T08:00:00.000Z';
  return { name, scenario: name, latencyMs: 0, title: name, startedAt, entrants: [], verdicts: [], ...more };
}

describe('A continued run', () => {
  it('names its day and server, or all of them once each', () => {
    expect(joinEnvironments('f.json', EARLIER, EARLIER)).toEqual(ENVIRONMENT);
    const now = { environment: { ...ENVIRONMENT, date: '2026-11-22', server: 'minio' }, isQuick: false };
    const environment = joinEnvironments('f.json', EARLIER, now);
    const joined = { date: '2026-11-21; continued: 2026-11-22', server: 'versitygw; continued: minio' };
    expect(environment).toEqual({ ...ENVIRONMENT, ...joined });
    expect(joinEnvironments('f.json', { environment, isQuick: false }, now)).toEqual(environment);
  });

  it('names its own server when nothing is left to measure', () => {
    const { server: _none, ...environment } = ENVIRONMENT;
    expect(joinEnvironments('f.json', EARLIER, { environment, isQuick: false })).toEqual(ENVIRONMENT);
  });

  it.each([
    ['build', { ...ENVIRONMENT, dray: '0.1.0 (def)' }, 'another "dray": 0.1.0 (abc); now 0.1.0 (def)'],
    ['machine', { ...ENVIRONMENT, machine: '64 cores' }, 'another "machine"'],
    ['set of tools', { ...ENVIRONMENT, restic: '0.14' }, 'another "restic": none; now 0.14'],
  ])('is refused with another %s', (_what, environment, message) => {
    expect(() => joinEnvironments('f.json', EARLIER, { environment, isQuick: false })).toThrow(message);
  });

  it('is refused with data of another size', () => {
    expect(() => joinEnvironments('f.json', EARLIER, { ...EARLIER, isQuick: true })).toThrow('f.json holds');
  });

  it('still has to measure scenarios that its server lacks or had no room for', () => {
    const earlier = [
      resultOf('copy', { server: 'versitygw' }),
      resultOf('push', { server: 'versitygw', leftOut: 'no room' }),
      resultOf('delta'),
    ];
    expect(isMeasured(earlier, { name: 'copy' }, 'versitygw')).toBe(true);
    expect(isMeasured(earlier, { name: 'copy' }, 'minio')).toBe(false);
    expect(isMeasured(earlier, { name: 'copy-30ms' }, 'versitygw')).toBe(false);
    expect(isMeasured(earlier, { name: 'push' }, 'versitygw')).toBe(false);
    expect(isMeasured(earlier, { name: 'delta', isWithoutStore: true }, 'versitygw')).toBe(true);
  });
});
