import { expect, it } from 'vitest';
import { deletionAllowed } from './deletion-bound.ts';

it('deletions are allowed up to 100 files or half of the destination, unless the user sets a bound', () => {
  const allowed = (
    deletes: number,
    destinationFiles: number,
    maxDelete?: { files: number } | { percent: number },
  ) => deletionAllowed({ deletes, destinationFiles, ...(maxDelete ? { maxDelete } : {}) });
  expect([allowed(100, 100), allowed(101, 202), allowed(101, 201)]).toEqual([true, true, false]);
  expect([allowed(5, 100, { files: 5 }), allowed(6, 100, { files: 5 })]).toEqual([true, false]);
  expect([allowed(20, 100, { percent: 20 }), allowed(21, 100, { percent: 20 })]).toEqual([true, false]);
  expect(allowed(1, 100, { files: 0 })).toBe(false);
});
