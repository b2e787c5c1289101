import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DrayError } from '../api/error.ts';
import { asRefusal } from './peer-call.ts';

const HERE = fileURLToPath(import.meta.url);

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

it.each([
  { work: () => lstatSync(`${HERE}.gone`), code: 'notFound' },
  { work: () => readdirSync(HERE), code: 'notFound' },
  { work: () => readFileSync(fileURLToPath(new URL('.', import.meta.url))), code: 'conflict' },
])('A file system error becomes a refusal ($code) that names no path of the server', ({ code, work }) => {
  const refusal = asRefusal(thrownBy(work));
  expect(refusal).toMatchObject({ code });
  expect((refusal as DrayError).message).not.toContain(HERE);
});

it('A fault of the server stays a fault', () => {
  for (const fault of [new TypeError('x'), Object.assign(new Error('x'), { code: 'ENOENT' })])
    expect(asRefusal(fault)).toBe(fault);
  const own = new DrayError('io', 'x');
  expect(asRefusal(own)).toBe(own);
});
