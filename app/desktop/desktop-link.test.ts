import { describe, expect, it } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import { createFakeElectron } from './electron.fixture.ts';
import { until } from './engine.fixture.ts';
import { inUserFolder } from './start-desktop.fixture.ts';

const user = inUserFolder();
const { start } = user;

describe('a link', () => {
  const LINK = 'dray://open?workspace=/data';
  const asksFirst = async (given: Awaited<ReturnType<typeof start>>) => {
    await until(() => given.dialogs.length > 0);
    // Return or Escape without reading means no.
    expect(given.dialogs[0]).toMatchObject({ buttons: ['Open', 'Cancel'], defaultId: 1, cancelId: 1 });
    expect(given.dialogs[0]!.detail).toContain('/data');
  };

  it('opens a workspace after the user agrees', async () => {
    const given = await start();
    given.person.answers(0);
    given.app.emit('second-instance', {}, ['/opt/dray', LINK]);
    await asksFirst(given);
    await until(() => given.places().length > 0);
    expect(given.engine.asked.at(-1)).toEqual({ name: 'home.addWorkspace', input: { root: '/data' } });
    expect(given.places()).toEqual(['#/changes?workspace=%2Fdata']);
  });

  it('given at start does nothing when the user declines', async () => {
    const fake = createFakeElectron({ userData: user.path() });
    fake.person.answers(1);
    const given = await start({ argv: ['/opt/dray', LINK] }, {}, fake);
    await asksFirst(given);
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(given.places()).toEqual([]);
    expect(given.engine.asked.map(({ name }) => name)).toEqual(['transfers.watch']);
  });

  it('that asks for more is refused with a message', async () => {
    const { app, dialogs, engine } = await start();
    app.emit('open-url', { preventDefault() {} }, 'dray://open?place=s3://b?endpoint=https://evil.example');
    await until(() => dialogs.length > 0);
    expect(dialogs[0]).toMatchObject({
      message: expect.stringContaining('links may not do'),
      buttons: ['OK'],
    });
    expect(engine.asked.map(({ name }) => name)).toEqual(['transfers.watch']);
  });

  it('to a folder that is not a workspace shows an error', async () => {
    const { app, dialogs, places } = await start(
      {},
      {
        answers: {
          'home.addWorkspace': () => {
            throw new DrayError('notAWorkspace', '/data is no workspace.');
          },
        },
      },
    );
    app.emit('open-url', { preventDefault() {} }, LINK);
    await until(() => dialogs.length === 2);
    expect(dialogs[1]).toMatchObject({ detail: '/data is no workspace.' });
    expect(places()).toEqual([]);
  });
});
