import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeLibraryTypes } from '../build/library-types.ts';

/** `DRAY_API=write` takes a change of the interface over. */
it('the library has the interface that its report says', async () => {
  const path = fileURLToPath(new URL('dray.api.md', import.meta.url));
  const { declarations, report } = await makeLibraryTypes();
  if (process.env.DRAY_API === 'write') writeFileSync(path, report);
  expect(report).toBe(readFileSync(path, 'utf8'));
  for (const name of ['openRepository', 'openWorkspace', 'copy', 'DrayError'])
    expect(declarations).toMatch(new RegExp(`export declare (?:async )?(?:function|class) ${name}\\b`));
  expect(declarations, 'needs no file of the sources').not.toMatch(/from '\.\.?\//);
});
