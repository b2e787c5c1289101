import { expect, it } from 'vitest';
import { isTooMuchForPdiffcopy } from './peer-delta-entrants.ts';

const GIB = 1024 ** 3;

it.each([
  { fileBytes: GIB, percent: 10, latencyMs: 0, isTooMuch: false },
  { fileBytes: GIB, percent: 50, latencyMs: 0, isTooMuch: false },
  { fileBytes: GIB, percent: 20, latencyMs: 0, isTooMuch: true },
  { fileBytes: GIB, percent: 10, latencyMs: 30, isTooMuch: true },
  { fileBytes: Math.round(1.79 * GIB), percent: 10, latencyMs: 0, isTooMuch: false },
  { fileBytes: Math.round(1.79 * GIB), percent: 50, latencyMs: 0, isTooMuch: true },
  { fileBytes: 5_500_000_000, percent: 10, latencyMs: 0, isTooMuch: true },
])(
  'pdiffcopy takes part where its blocks are few and near: $fileBytes bytes, $percent %, $latencyMs ms',
  ({ isTooMuch, ...asked }) => {
    expect(isTooMuchForPdiffcopy(asked)).toBe(isTooMuch);
  },
);
