/** The first step, against a small server. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { contextIn, freshStorePerTest, store } from '../../../e2e/fresh-store.ts';
import type { FleetRequest } from '../../api/jobs/fleet.ts';
import { fleetSteps } from './fleet-steps.ts';

freshStorePerTest();
beforeEach(() => {
  store.objects.set('from/object', Buffer.from('content'));
});

const copy: FleetRequest = {
  kind: 'copy',
  source: { place: 's3://fake-bucket/from', connection: { region: 'eu-1' } },
  destination: { place: 's3://fake-bucket/to' },
};

describe('The first step of a fleet', () => {
  it('stores the request at the destination, with places that a worker elsewhere can open', async () => {
    const work = await fleetSteps.begin(contextIn(), 'nightly', copy);
    expect(work).toMatchObject({ id: 'nightly', destination: 's3://fake-bucket/to/' });
    const stored = store.objects.get('to/.dray-fleet/nightly/job.json')!;
    expect(JSON.parse(Buffer.from(stored).toString())).toMatchObject({
      id: 'nightly',
      request: {
        source: { place: 's3://fake-bucket/from/?region=eu-1' },
        destination: { place: 's3://fake-bucket/to/' },
      },
    });
    expect(Buffer.from(stored).toString()).not.toContain('fake"');
  });

  it('may be repeated, and refuses an id that another request has', async () => {
    const first = await fleetSteps.begin(contextIn(), 'nightly', copy);
    expect(await fleetSteps.begin(contextIn(), 'nightly', copy)).toEqual(first);
    const other = fleetSteps.begin(contextIn(), 'nightly', { ...copy, kind: 'sync' });
    await expect(other).rejects.toMatchObject({ code: 'usage' });
  });

  it.each([
    [{ source: { place: 'folder' } }, /do not share/],
    [{ destination: { place: 'file:///mnt/x' } }, /do not share/],
    [{ source: { place: 'dray://host/photos' } }, /behind one machine/],
    [{ source: { place: '-' } }, /stream/],
    [{ source: { place: 's3://fake-bucket/to/below' } }, /overlap/],
    [{ filter: { filesFrom: ['a'] } }, /--files-from/],
    [{ filter: { rules: [{ action: 'include', pattern: '[' }] } }, /\[/],
  ] as const)('refuses %j with a reason', async (more, message) => {
    const begun = fleetSteps.begin(contextIn(), 'nightly', { ...copy, ...more } as FleetRequest);
    await expect(begun).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });

  it.each(['copy', 'sync', 'check', 'push'] as const)(
    'of a %s finds out that the source holds nothing, and stores nothing',
    async (kind) => {
      const mistyped = { ...copy, kind, source: { place: 's3://fake-bucket/form' } };
      const begun = fleetSteps.begin(contextIn(), 'nightly', mistyped);
      await expect(begun).rejects.toMatchObject({
        code: 'notFound',
        message: expect.stringContaining('s3://fake-bucket/form'),
      });
      expect([...store.objects.keys()]).toEqual(['from/object']);
    },
  );

  it.each(['file:///etc/', '/etc/', 'dray://host/photos', 'named:photos'])(
    'makes no worker read %s, whoever has stored the request',
    async (place) => {
      await fleetSteps.begin(contextIn(), 'forged', copy);
      const key = 'to/.dray-fleet/forged/job.json';
      const job = JSON.parse(store.objects.get(key)!.toString());
      const text = JSON.stringify({ ...job, request: { ...job.request, source: { place } } });
      store.objects.set(key, Buffer.from(text));
      const digest = createHash('sha256').update(text).digest('hex');
      const work = { id: 'forged', destination: copy.destination.place, digest };
      for (const step of [
        () => fleetSteps.planRanges(contextIn(), work),
        () => fleetSteps.cutRange(contextIn(), work, { range: 0, first: 0, cutsMax: 1 }),
        () => fleetSteps.runPart(contextIn(), work, { range: 0, number: 0 }),
      ])
        await expect(step()).rejects.toMatchObject({
          code: 'damaged',
          message: expect.stringContaining('request.source.place'),
        });
    },
  );
});
