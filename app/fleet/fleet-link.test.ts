import { describe, expect, it } from 'vitest';
import { fleetLink } from './fleet-link.ts';

const SERVER = { name: 'x', address: '127.0.0.1:1', namespace: 'default', queue: 'dray-fleet' };

describe("the window's link to Temporal", () => {
  it('names a file of a key that cannot be read', async () => {
    const connecting = fleetLink.connect({ ...SERVER, apiKeyPath: '/nowhere/key' });
    await expect(connecting).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('/nowhere/key'),
    });
  });
});
