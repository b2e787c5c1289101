/** Parts of random key spaces, against a small server that keeps any key. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextIn, freshStorePerTest, store } from '../../../../e2e/fresh-store.ts';
import type { FleetRequest } from '../../../api/jobs/fleet.ts';
import { comparePaths } from '../../../model/entry.ts';
import { fleetSteps as steps } from '../fleet-steps.ts';

freshStorePerTest();

const request: FleetRequest = {
  kind: 'copy',
  source: { place: 's3://fake-bucket/from/' },
  destination: { place: 's3://fake-bucket/to/' },
};

interface PartDocument {
  readonly range: number;
  readonly number: number;
  readonly after?: string;
  readonly upTo?: string;
  readonly isLast: boolean;
  readonly files: number;
  readonly large: readonly { readonly key: string }[];
}

let jobs = 0;
/** All parts of the store's objects, in order. */
async function cutAll(more: Partial<FleetRequest>, cutsMax: number): Promise<readonly PartDocument[]> {
  jobs += 1;
  const id = `job-${jobs}`;
  const context = contextIn();
  const work = await steps.begin(context, id, { ...request, ...more });
  const { ranges } = await steps.planRanges(context, work);
  for (let range = 0; range < ranges; range += 1)
    for (let first = 0; ; ) {
      const cut = await steps.cutRange(context, work, { range, first, cutsMax });
      // A call that is repeated finds the same parts.
      expect(await steps.cutRange(context, work, { range, first, cutsMax })).toEqual(cut);
      first += cut.parts.length;
      if (cut.isLast) break;
    }
  return [...store.objects]
    .filter(([key]) => key.startsWith(`to/.dray-fleet/${id}/parts/`))
    .sort(([left], [right]) => comparePaths(left, right))
    .map(([, bytes]) => JSON.parse(Buffer.from(bytes).toString()) as PartDocument);
}

function partsOf(key: string, parts: readonly PartDocument[]): readonly PartDocument[] {
  return parts.filter(
    ({ after, upTo }) =>
      (after === undefined || comparePaths(key, after) > 0) &&
      (upTo === undefined || comparePaths(key, upTo) <= 0),
  );
}

describe('The parts of a fleet', () => {
  it('hold every key exactly once, whatever the keys and the sizes of parts', async () => {
    const character = fc.constantFrom(
      'a',
      'b',
      '/',
      '0',
      '.',
      '~',
      ' ',
      'é',
      '写',
      '\u{1f600}',
      '\u{10ffff}',
      '\u0001',
    );
    const key = fc
      .string({ unit: character, minLength: 1, maxLength: 5 })
      // A listing cannot distinguish these from folders.
      .filter(
        (text) =>
          !text.endsWith('/') && !text.startsWith('/') && !text.split('/').some((part) => /^\.*$/.test(part)),
      );
    const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 120 });
    const size = fc.integer({ min: 1, max: 40 });
    await fc.assert(
      fc.asyncProperty(
        keys,
        size,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (all, partFilesMax, cutsMax, isSync) => {
          store.objects.clear();
          for (const [at, name] of all.entries()) store.objects.set(`from/${name}`, Buffer.alloc(at % 9));
          for (const name of all.slice(0, 5)) store.objects.set(`to/${name}~`, Buffer.from('extra'));
          const more = { partFilesMax, rangesWanted: 4, largeBytes: 8 };
          const parts = await cutAll({ ...more, kind: isSync ? 'sync' : 'copy' }, cutsMax);
          const whole = [...all, ...all.slice(0, 5).map((name) => `${name}~`)];
          for (const name of whole) expect(partsOf(name, parts).length).toBe(1);
          expect(parts[0]!.after).toBeUndefined();
          expect(parts.at(-1)!.upTo).toBeUndefined();
          for (let at = 1; at < parts.length; at += 1) expect(parts[at]!.after).toBe(parts[at - 1]!.upTo);
          const files = parts.reduce((sum, part) => sum + part.files, 0);
          const large = parts.flatMap((part) => part.large.map((each) => each.key));
          expect(files + large.length).toBe(all.length);
          expect(large).toEqual(all.filter((_, at) => at % 9 === 8).toSorted(comparePaths));
          for (const part of parts) expect(part.files).toBeLessThanOrEqual(partFilesMax);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('end by bytes too, and a part that a filter leaves nearly empty ends by its keys', async () => {
    for (let at = 0; at < 50; at += 1)
      store.objects.set(`from/${String(at).padStart(2, '0')}`, Buffer.alloc(10));
    expect((await cutAll({ partBytesMax: 100 }, 9)).map(({ files }) => files)).toEqual([
      10, 10, 10, 10, 10, 0,
    ]);
    const filter = { rules: [{ action: 'exclude', pattern: '*' }] } as const;
    const parts = await cutAll({ partFilesMax: 2, filter }, 9);
    expect(parts.map(({ files }) => files)).toEqual([0, 0, 0]);
    expect(parts.map(({ upTo }) => upTo)).toEqual(['19', '39', undefined]);
  });

  it('are refused for a source without objects, and for a store that lists without order', async () => {
    await expect(cutAll({}, 1)).rejects.toMatchObject({ code: 'notFound' });
    for (let at = 0; at < 50; at += 1) store.objects.set(`from/${at}`, Buffer.from('x'));
    store.listing = 'shuffled';
    await expect(cutAll({}, 1)).rejects.toMatchObject({ code: 'unsupported' });
  });
});
