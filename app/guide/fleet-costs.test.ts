/** The costs on the page about fleets are those of the price table that plans use. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dollarsFor, type RequestCounts } from '../../engine/model/prices.ts';

const page = readFileSync(new URL('./fleet.md', import.meta.url), 'utf8');

it('the page about fleets prices requests as a plan does', () => {
  const table = page.slice(page.indexOf('| objects | requests | dollars |')).split('\n\n')[0]!;
  const rows = [...table.matchAll(/^\| [^|]+ \| ([\d][^|]+) \| ([\d.]+) \|$/gm)];
  expect(rows).toHaveLength(5);
  for (const [row, requests, dollars] of rows) {
    const counts = { reads: 0, writes: 0, lists: 0, deletes: 0 };
    for (const [, count, name] of requests!.matchAll(/(\d[\d,]*) ([a-z]+)/g))
      counts[name as keyof RequestCounts] += Number(count!.replaceAll(',', ''));
    expect(dollarsFor('aws', counts).toFixed(2), row).toBe(dollars);
  }
  const objects = { reads: 1e9, writes: 1e9, lists: 4e6, deletes: 0 };
  expect(page).toContain(`cost ${Math.round(dollarsFor('aws', objects)).toLocaleString('en')} dollars`);
});
