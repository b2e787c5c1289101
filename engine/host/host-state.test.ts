import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noise } from '../peer/peer.fixture.ts';
import { createHostFixture, type HostFixture, transferIn } from './host.fixture.ts';

describe('Transfers of a host', () => {
  let fixture: HostFixture;
  beforeEach(() => {
    fixture = createHostFixture();
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  it('share one throttle', async () => {
    const { client, host, sandbox } = fixture;
    let takenBytes = 0;
    host.throttle.take = async (bytes) => {
      takenBytes += bytes;
    };
    for (const name of ['one', 'two']) {
      const root = await fixture.workspace(name);
      sandbox.write(`${name}/a.bin`, noise(100_000, 1));
      const { id } = await client.ask('transfers.start', { kind: 'push', root });
      expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    }
    expect(takenBytes).toBeGreaterThanOrEqual(200_000);
  });

  it('use the environment of the moment when they start', async () => {
    const { client, host, sandbox } = fixture;
    const root = await fixture.workspace();
    for (const author of ['first', 'second']) {
      host.setEnvironment({ ...host.environment, DRAY_AUTHOR: author });
      sandbox.write('work/a.txt', author);
      const { id } = await client.ask('transfers.start', { kind: 'push', root });
      expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    }
    const { commits } = await client.ask('history.list', { root, limit: 10 });
    expect(commits.map(({ author }) => author)).toEqual(['second', 'first']);
  });

  it('are neither opened nor locked after the host has closed', async () => {
    const { host, sandbox } = fixture;
    await host.close();
    await expect(host.transfers()).rejects.toMatchObject({ code: 'aborted' });
    expect(readdirSync(sandbox.path('config', '.'))).toEqual([]);
  });
});
