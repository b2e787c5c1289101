import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { nextCronMs, parseCron } from './cron.ts';

/** The next runs as local times, computed by a process in that time zone. */
function runsIn(zone: string, expression: string, after: string, count: number): string[] {
  const script = `
    import { nextCronMs, parseCron } from ${JSON.stringify(new URL('./cron.ts', import.meta.url).href)};
    const schedule = parseCron(${JSON.stringify(expression)});
    let at = Date.parse(${JSON.stringify(after)});
    const found = [];
    for (let run = 0; run < ${count}; run += 1) {
      at = nextCronMs(schedule, at);
      found.push(new Date(at).toISOString().slice(0, 16));
    }
    console.log(found.join(' '));`;
  const options = { encoding: 'utf8', env: { ...process.env, TZ: zone } } as const;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], options).trim().split(' ');
}

describe('a cron schedule', () => {
  it.each([
    ['*/20 3,4 * * *', ['03:00', '03:20', '03:40', '04:00', '04:20', '04:40', '03:00']],
    ['0 9-17/4 * * *', ['09:00', '13:00', '17:00', '09:00']],
    ['5/25 0 * * *', ['00:05', '00:30', '00:55', '00:05']],
    ['@hourly', ['01:00', '02:00']],
  ])('reads %s', (expression, times) => {
    const found = runsIn('UTC', expression, '2026-05-01T00:00Z', times.length);
    expect(found.map((time) => time.slice(11))).toEqual(times);
  });

  it('reads names, and takes either day if both kinds of days are given', () => {
    expect(runsIn('UTC', '0 0 * JAN sun', '2026-01-01T00:00Z', 2)).toEqual([
      '2026-01-04T00:00',
      '2026-01-11T00:00',
    ]);
    expect(runsIn('UTC', '0 0 13 * fri', '2026-02-01T00:00Z', 3)).toEqual([
      '2026-02-06T00:00',
      '2026-02-13T00:00',
      '2026-02-20T00:00',
    ]);
    expect(runsIn('UTC', '0 0 29 2 *', '2026-01-01T00:00Z', 2)).toEqual([
      '2028-02-29T00:00',
      '2032-02-29T00:00',
    ]);
    expect(runsIn('UTC', '0 0 * * 7', '2026-01-01T00:00Z', 1)).toEqual(['2026-01-04T00:00']);
  });

  it('runs once on the day when 02:30 is skipped, and once when it is doubled', () => {
    // Berlin: on 2026-03-29 02:00 becomes 03:00; on 2026-10-25 03:00 becomes 02:00.
    expect(runsIn('Europe/Berlin', '30 2 * * *', '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:30',
      '2026-03-30T00:30',
    ]);
    expect(runsIn('Europe/Berlin', '30 2 * * *', '2026-10-24T00:00Z', 3)).toEqual([
      '2026-10-24T00:30',
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
  });

  it('runs in both of two equal hours if it runs every hour', () => {
    expect(runsIn('Europe/Berlin', '30 * * * *', '2026-10-24T23:00Z', 4)).toEqual([
      '2026-10-24T23:30',
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T02:30',
    ]);
  });

  it.each(['', '* * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '5-1 * * * *'])(
    'refuses "%s"',
    (expression) => {
      expect(() => parseCron(expression)).toThrow(/The schedule is not valid/);
    },
  );

  it.each(['*/0 * * * *', '1-2-3 * * * *', '1/2/3 * * * *', 'a * * * *', '0 0 30 2 *'])(
    'refuses "%s" too',
    (expression) => {
      expect(() => parseCron(expression)).toThrow(/The schedule is not valid/);
    },
  );

  it('never gives a time that is not after the given one', () => {
    const schedule = parseCron('0 3 * * *');
    let atMs = Date.UTC(2026, 0, 1);
    for (let run = 0; run < 800; run += 1) {
      const nextMs = nextCronMs(schedule, atMs)!;
      expect(nextMs - atMs).toBeGreaterThan(0);
      expect(nextMs - atMs).toBeLessThanOrEqual(25 * 3_600_000);
      atMs = nextMs;
    }
  });
});
