import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { receivedError } from '../api/error.ts';
import { isFileItem, isWritten, WriteItemSchema, WriteResultSchema } from './messages.ts';

/** Mostly valid values, with an invalid one in any place. */
const odd = fc.constantFrom<unknown>(undefined, null, -1, 0.5, '', 'g'.repeat(16), 0o10000, {}, []);
const or = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: odd });
const more = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ other: 1 }) },
);

const item = fc
  .tuple(
    fc.record(
      {
        kind: or(fc.constantFrom('file', 'link', 'folder')),
        path: or(fc.string()),
        sizeBytes: or(fc.nat()),
        mtimeNs: or(fc.bigInt(-(10n ** 20n), 10n ** 20n).map(String)),
        mode: or(fc.nat(0o7777)),
        crc64: or(fc.constant('0123456789abcdef')),
      },
      { requiredKeys: ['kind', 'path', 'sizeBytes', 'mtimeNs', 'crc64'] },
    ),
    more,
  )
  .map(([record, other]) => JSON.parse(JSON.stringify({ ...record, ...other })) as unknown);

describe('the fast checks of messages', () => {
  it('accept as a file exactly what the schema accepts', () => {
    fc.assert(
      fc.property(item, (value) => {
        const parsed = v.safeParse(WriteItemSchema, value);
        expect(isFileItem(value)).toBe(parsed.success && parsed.output.kind === 'file');
      }),
      { numRuns: 2_000 },
    );
  });

  it('accept as a write result exactly what the schema accepts', () => {
    const result = fc
      .tuple(fc.record({ token: or(fc.string()), mtimeMs: or(fc.integer()) }, { requiredKeys: [] }), more)
      .map(([record, other]) => JSON.parse(JSON.stringify({ ...record, ...other })) as unknown);
    fc.assert(
      fc.property(result, (value) => {
        expect(isWritten(value)).toBe(v.is(WriteResultSchema, value));
      }),
      { numRuns: 1_000 },
    );
  });
});

it('an error code that is not one of ours, or internal to a peer, becomes remoteFailed', () => {
  const error = { message: 'x', retry: 'no', data: {} };
  const codeOf = (code: string) => {
    const parsed = v.parse(WriteResultSchema, { error: { ...error, code } });
    return 'error' in parsed ? receivedError(parsed.error).code : undefined;
  };
  expect(codeOf('notFound')).toBe('notFound');
  for (const code of ['made-up', 'internal', 'constructor', '__proto__'])
    expect(codeOf(code)).toBe('remoteFailed');
});
