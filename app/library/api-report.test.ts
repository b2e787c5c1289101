import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeLibraryTypes } from '../build/library-types.ts';

const OWN_NAMES = [
  'CommitBuilder',
  'CommitInfo',
  'CommitOutcome',
  'CommitRecordOptions',
  'DrayOptions',
  'FileChange',
  'FileOptions',
  'ListOptions',
  'RangeOptions',
  'Ref',
  'Repository',
  'StopOptions',
  'VersionEntry',
  'Workspace',
];

/** `DRAY_API=write` takes a change of the interface over. */
it('the library has the interface that its report says', async () => {
  const path = fileURLToPath(new URL('dray.api.md', import.meta.url));
  const { declarations, report } = await makeLibraryTypes();
  if (process.env.DRAY_API === 'write') writeFileSync(path, report);
  expect(report).toBe(readFileSync(path, 'utf8'));
  // Of the library's own names, the members are documented too. A list of codes is no name for programs.
  const undocumented = /\/\/ @public \(undocumented\)\n.*/g;
  expect(report.match(undocumented) ?? []).toEqual([]);
  expect(report.match(/^(?:interface|type|const|class|function) \w+/gm)).toEqual(['const EXIT_CODES']);
  for (const name of OWN_NAMES) {
    const [text] = report.match(new RegExp(`^export interface ${name}\\b[^]*?^}`, 'm'))!;
    expect(text).not.toContain('(undocumented)');
  }
  for (const name of ['openRepository', 'openWorkspace', 'copy', 'DrayError'])
    expect(declarations).toMatch(new RegExp(`export declare (?:async )?(?:function|class) ${name}\\b`));
  expect(declarations, 'needs no file of the sources').not.toMatch(/from '\.\.?\//);
});
