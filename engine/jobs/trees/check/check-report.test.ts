import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckTreesRequest } from '../../../api/jobs/trees.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../session/job.fixture.ts';
import { checkTrees } from './check-trees.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const sides = { source: { place: 'left' }, destination: { place: 'right' } };

async function check(more: Partial<CheckTreesRequest>, signal = new AbortController().signal) {
  const reported = testContext(sandbox.folder, {
    environment: { DRAY_CACHE: sandbox.path('cache') },
    signal,
  });
  return { reported, summary: await checkTrees(reported, { ...sides, ...more }) };
}

describe('The report of a check', () => {
  it('has every reported file, and is one JSON document with the totals', async () => {
    sandbox.write('left/same', 'same');
    sandbox.write('right/same', 'same');
    sandbox.write('left/other', 'left');
    sandbox.write('right/other', 'lift');
    sandbox.write('left/"quoted" \u00e9\n', 'x');
    sandbox.write('right/longer', 'xx');
    const reportPath = sandbox.path('report.json');
    const { summary, reported } = await check({ reportPath });
    const report = JSON.parse(readFileSync(reportPath, 'utf8'));
    expect(report).toMatchObject({
      report: 'dray check',
      version: 1,
      source: 'left',
      destination: 'right',
      totals: summary,
    });
    expect(Date.parse(report.started)).toBeLessThanOrEqual(Date.parse(report.finished));
    const events = eventsOf(reported, 'compared').map(({ type: _, sizeBytes: size, ...rest }) => ({
      size,
      ...rest,
    }));
    expect(report.files).toEqual(events);
    expect(report.files).toContainEqual({
      path: 'other',
      size: 4,
      result: 'differs',
      by: 'content',
      differsAt: 1,
    });
  });

  it('is not blocked by what a killed check with the same process number left', async () => {
    for (const side of ['left', 'right']) sandbox.write(`${side}/a`, 'a');
    const reportPath = sandbox.path('report.json');
    sandbox.write(`report.json.${process.pid}.tmp`, '{"report":');
    await check({ reportPath });
    expect(JSON.parse(readFileSync(reportPath, 'utf8')).files).toHaveLength(1);
  });

  it('of thousands of files is complete', async () => {
    for (let at = 0; at < 2_500; at += 1) sandbox.write(`left/${at}`, '');
    mkdirSync(sandbox.path('right'));
    const reportPath = sandbox.path('report.json');
    await check({ reportPath });
    expect(JSON.parse(readFileSync(reportPath, 'utf8')).files).toHaveLength(2_500);
  });

  it('of a check of no files is a document as well', async () => {
    mkdirSync(sandbox.path('left'));
    mkdirSync(sandbox.path('right'));
    const reportPath = sandbox.path('report.json');
    await check({ reportPath });
    expect(JSON.parse(readFileSync(reportPath, 'utf8'))).toMatchObject({ files: [], totals: { files: 0 } });
  });

  it('of a stopped check is not written, and the earlier one stays', async () => {
    sandbox.write('left/a', 'a');
    mkdirSync(sandbox.path('right'));
    const reportPath = sandbox.write('report.json', 'before');
    await expect(check({ reportPath }, AbortSignal.abort())).rejects.toMatchObject({ code: 'aborted' });
    expect(readFileSync(reportPath, 'utf8')).toBe('before');
    expect(readdirSync(sandbox.folder).filter((name) => name.startsWith('report'))).toEqual(['report.json']);
  });

  it('that cannot be put in place fails with the path, and leaves nothing behind', async () => {
    sandbox.write('left/a', 'a');
    sandbox.write('right/a', 'a');
    sandbox.write('folder/in it', '');
    const reportPath = sandbox.path('folder');
    await expect(check({ reportPath })).rejects.toMatchObject({ code: 'io' });
    await expect(check({ reportPath: `${sandbox.path('left/a')}/report` })).rejects.toMatchObject({
      code: 'io',
    });
    // The cause is named as for every other file.
    const long = sandbox.path('r'.repeat(300));
    await expect(check({ reportPath: long })).rejects.toMatchObject({
      code: 'unsafePath',
      message: `${long} cannot exist on this file system (ENAMETOOLONG).`,
    });
    expect(readdirSync(sandbox.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(readdirSync(reportPath)).toEqual(['in it']);
  });
});
