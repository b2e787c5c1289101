import { describe, expect, it } from 'vitest';
import type { SavedJobCard } from '../../engine/api/host/saved.ts';
import { NO_JOBS, transfer, until } from './engine.fixture.ts';
import { inUserFolder } from './start-desktop.fixture.ts';

const { start } = inUserFolder();

describe('transfers', () => {
  it('show in the taskbar and the tray while they run', async () => {
    const { emitTransfers, windows, trays, app } = await start();
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    expect([windows[0]!.progress, app.badge]).toEqual([{ value: 2, mode: 'indeterminate' }, 1]);
    await emitTransfers(
      transfer({ id: 'a', state: 'running', bytesDone: 30, bytesTotal: 100 }),
      transfer({ id: 'b', state: 'waiting', bytesTotal: 100 }),
      transfer({ id: 'c', state: 'paused', bytesDone: 1 }),
    );
    expect(windows[0]!.progress).toEqual({ value: 0.15, mode: 'normal' });
    expect([trays.length, trays[0]!.toolTip]).toEqual([1, 'Dray: 1 transfer, 15 %']);
    await emitTransfers(transfer({ id: 'a', state: 'paused' }));
    expect([windows[0]!.progress.value, app.badge, trays[0]!.isDestroyed()]).toEqual([-1, 0, true]);
  });

  it('continue when the window is closed, and Dray quits after the last one', async () => {
    const { emitTransfers, windows, app, notifications, trays, engine } = await start();
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    windows[0]!.close();
    expect([app.hasQuit, notifications[0]!.title]).toEqual([false, 'Transfers continue']);
    trays[0]!.emit('click');
    expect(windows[0]!.webContents.getURL()).toContain('#/transfers');
    windows[0]!.close();
    await emitTransfers(transfer({ id: 'a', state: 'done', startedMs: 0, endedMs: 60_000 }));
    await until(() => app.hasQuit);
    expect(engine.counts.closed).toBe(1);
  });

  it('that have ended cause no notice when the window is closed', async () => {
    const { emitTransfers, windows, app, notifications } = await start();
    await emitTransfers(transfer({ id: 'a', state: 'done' }));
    windows[0]!.close();
    await until(() => app.hasQuit);
    expect(notifications).toEqual([]);
  });

  it('have an icon that macOS draws in the colours of its menu bar', async () => {
    const { emitTransfers, trays } = await start();
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    expect(trays[0]!.icon).toMatchObject({ path: '/app/tray.png', isTemplate: true });
  });

  it('share the tray with the numbers of commits to pull and of files to push', async () => {
    const incoming = { isMore: false, isRewritten: false };
    const looks = [
      { root: '/a', hasIncoming: true, incoming: { ...incoming, commits: 3 }, outgoing: 1_400 },
      { root: '/b', hasIncoming: true, incoming: { ...incoming, commits: 1 }, outgoing: 2 },
      { root: '/c', hasIncoming: false, outgoing: 0 },
    ];
    const { app, emitTransfers, trays, engine } = await start(
      {},
      { answers: { 'home.look': () => ({ looks }) } },
    );
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    app.emit('browser-window-focus');
    await until(() => trays[0]!.menu.length > 6);
    const labels = trays[0]!.menu.map(({ label }) => label);
    expect(labels.slice(0, 3)).toEqual(['1 transfer', '4 commits to pull', '1,402 files to push']);
    expect(engine.asked.filter(({ name }) => name === 'home.look')).toHaveLength(1);
  });

  it('can be paused from the tray', async () => {
    const { emitTransfers, trays, engine } = await start();
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    trays[0]!.menu.find(({ label }) => label === 'Pause All')!.click!({});
    await until(() => engine.asked.some(({ name }) => name === 'transfers.change'));
    expect(engine.asked.at(-1)!.input).toEqual({ ids: 'all', action: 'pause' });
  });

  const long = { id: 'a', startedMs: 0, endedMs: 60_000, filesDone: 1_200 };

  it('cause a notice if they were long and the window is not in front', async () => {
    const { emitTransfers, notifications, places } = await start(
      {},
      { answers: { 'settings.get': () => ({ notifications: true }) } },
    );
    await emitTransfers(transfer({ ...long, state: 'running' }), transfer({ id: 'short', state: 'running' }));
    await emitTransfers(
      transfer({ ...long, state: 'done' }),
      transfer({ id: 'short', state: 'done', startedMs: 0, endedMs: 900 }),
    );
    expect(notifications.map(({ title, body }) => [title, body])).toEqual([
      ['Done: Push of a', '1,200 files.'],
    ]);
    notifications[0]!.emit('click');
    expect(places()).toEqual(['#/transfers']);
  });

  it('cause a notice if they failed, however short they were', async () => {
    const { emitTransfers, notifications } = await start(
      {},
      { answers: { 'settings.get': () => ({ notifications: true }) } },
    );
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    const error = { code: 'unreachable', message: 'The remote cannot be reached.' } as never;
    await emitTransfers(transfer({ id: 'a', state: 'failed', error }));
    expect(notifications[0]).toMatchObject({
      title: 'Failed: Push of a',
      body: 'The remote cannot be reached.',
    });
  });

  it('cause a notice however many others are still open', async () => {
    const { emitTransfers, notifications } = await start(
      {},
      { answers: { 'settings.get': () => ({ notifications: true }) } },
    );
    for (let count = 0; count < 25; count += 1) {
      await emitTransfers(transfer({ ...long, state: 'running' }));
      await emitTransfers(transfer({ ...long, state: 'done' }));
    }
    expect(notifications).toHaveLength(25);
  });

  it('cause no notice if the window is in front or notices are off', async () => {
    const looking = await start({}, { answers: { 'settings.get': () => ({ notifications: true }) } });
    looking.windows[0]!.focus();
    const silent = await start({}, { answers: { 'settings.get': () => ({ notifications: false }) } });
    for (const { emitTransfers, notifications } of [looking, silent]) {
      await emitTransfers(transfer({ ...long, state: 'running' }));
      await emitTransfers(transfer({ ...long, state: 'done' }));
      expect(notifications).toEqual([]);
    }
  });
});

describe('saved jobs', () => {
  const job: SavedJobCard = {
    ...{ name: 'night', version: '1', arguments: ['push'], places: [], directory: '/data' },
    triggers: [{ on: 'every', everyMs: 60_000 }],
    state: 'idle',
  };
  const byHand = { ...job, name: 'hand', triggers: [] };
  const labelsOf = (menu: readonly { readonly label?: string }[]) => menu.map(({ label }) => label);

  it('that start by themselves keep Dray in the tray, and it quits when none is left', async () => {
    const { engine, emitTransfers, trays, windows, notifications, app } = await start();
    await emitTransfers();
    engine.emitJobs({ ...NO_JOBS, jobs: [job, byHand, { ...job, name: 'other', state: 'paused' }] });
    await until(() => trays.length === 1);
    expect(trays[0]!.toolTip).toBe('Dray: 1 job waiting');
    expect(labelsOf(trays[0]!.menu)).toEqual([
      ...['1 job waiting', undefined, 'Show Jobs', undefined, 'Quit Dray'],
    ]);
    windows[0]!.close();
    expect([app.hasQuit, notifications.map(({ title }) => title)]).toEqual([
      false,
      ['Dray stays in the tray'],
    ]);
    trays[0]!.emit('click');
    expect(windows[0]!.webContents.getURL()).toContain('#/jobs');
    windows[0]!.close();
    expect(notifications).toHaveLength(1);
    engine.emitJobs({ ...NO_JOBS, jobs: [byHand] });
    await until(() => app.hasQuit);
    expect([trays[0]!.isDestroyed(), engine.counts.closed]).toEqual([true, 1]);
  });

  it('that another process starts keep Dray open only while one runs', async () => {
    const { engine, emitTransfers, trays, windows, app } = await start();
    await emitTransfers();
    const running: SavedJobCard = { ...job, state: 'running' };
    engine.emitJobs({ ...NO_JOBS, startedBy: 'elsewhere', jobs: [running, { ...job, name: 'other' }] });
    await until(() => trays.length === 1);
    expect(trays[0]!.toolTip).toBe('Dray: 1 job running');
    windows[0]!.close();
    expect(app.hasQuit).toBe(false);
    engine.emitJobs({ ...NO_JOBS, startedBy: 'elsewhere', jobs: [job] });
    await until(() => app.hasQuit);
  });

  it('share the tray with transfers', async () => {
    const { engine, emitTransfers, trays } = await start();
    engine.emitJobs({ ...NO_JOBS, jobs: [job] });
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    expect(trays).toHaveLength(1);
    expect(labelsOf(trays[0]!.menu)).toEqual([
      ...['1 transfer', '1 job waiting', undefined, 'Show Transfers', 'Pause All', 'Show Jobs'],
      ...[undefined, 'Quit Dray'],
    ]);
  });

  it('that fail or work again cause a notice that leads to them', async () => {
    const answers = { 'settings.get': () => ({ notifications: true }) };
    const { engine, notifications, places } = await start({}, { answers });
    const emitRun = (lastRun: string, fields: Partial<SavedJobCard>) =>
      engine.emitJobs({ ...NO_JOBS, jobs: [{ ...job, lastRun, ...fields }] });
    const titles = () => notifications.map(({ body, title }) => [title, body]);
    emitRun('1', { lastResult: 'done' });
    emitRun('2', { lastResult: 'failed', lastMessage: 'The disk is full.' });
    emitRun('3', { state: 'running' });
    emitRun('3', { lastResult: 'done', lastMessage: 'Pushed.', isRecovered: true });
    emitRun('4', { lastResult: 'done' });
    await until(() => notifications.length === 2);
    expect(titles()).toEqual([
      ['Job failed: night', 'The disk is full.'],
      ['Job works again: night', 'Pushed.'],
    ]);
    notifications[0]!.emit('click');
    expect(places()).toEqual(['#/jobs']);
  });

  it('without success for days cause one notice, also before the first list, and as their notices say', async () => {
    const answers = { 'settings.get': () => ({ notifications: true }) };
    const { engine, notifications, places } = await start({}, { answers });
    const emitStale = (staleNotice: string, more: Partial<SavedJobCard> = {}) =>
      engine.emitJobs({ ...NO_JOBS, jobs: [{ ...job, staleNotice, notices: { days: 3 }, ...more }] });
    const soon = (afterMs: number) => new Date(Date.now() + afterMs).toISOString();
    emitStale('2020-01-01T00:00:00.000Z');
    const first = soon(1_000);
    emitStale(first);
    emitStale(first);
    emitStale(soon(2_000), { notices: { days: 3, desktop: false } });
    emitStale(soon(3_000));
    await until(() => notifications.length === 2);
    const text = ['Job without success: night', 'No run has worked for 3 days.'];
    expect(notifications.map(({ body, title }) => [title, body])).toEqual([text, text]);
    notifications[0]!.emit('click');
    expect(places()).toEqual(['#/jobs']);
  });

  it('with notices of failures switched off cause none', async () => {
    const answers = { 'settings.get': () => ({ notifications: true }) };
    const { engine, notifications } = await start({}, { answers });
    const emitRun = (lastRun: string, fields: Partial<SavedJobCard>) =>
      engine.emitJobs({ ...NO_JOBS, jobs: [{ ...job, lastRun, ...fields }] });
    emitRun('1', { lastResult: 'done' });
    emitRun('2', { lastResult: 'failed', notices: { desktop: false } });
    emitRun('3', { lastResult: 'failed', notices: { on: ['recovery'] } });
    emitRun('4', { lastResult: 'done', isRecovered: true, notices: { on: ['recovery'] } });
    await until(() => notifications.length > 0);
    expect(notifications.map(({ title }) => title)).toEqual(['Job works again: night']);
  });

  it('at login run when the system has started Dray, and not when a person has', async () => {
    const byPerson = await start();
    expect(byPerson.engine.options()).toMatchObject({ isLogin: false });
    const byLogin = await start({ argv: ['/opt/dray', '--hidden'] });
    expect(byLogin.engine.options()).toMatchObject({ isLogin: true });
    await byLogin.emitTransfers();
    await until(() => byLogin.app.hasQuit);
  });
});

describe('an engine that crashes', () => {
  it('causes a notice when it was restarted', async () => {
    const { engine, notifications, dialogs } = await start();
    engine.crash();
    expect(notifications[0]!.title).toBe('The engine stopped');
    expect(dialogs).toEqual([]);
  });

  it('repeatedly causes a question, and restarts when the user agrees', async () => {
    const { engine, dialogs, windows, emitTransfers } = await start();
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    engine.crash(true);
    await until(() => engine.counts.open === 2);
    expect(dialogs[0]).toMatchObject({ buttons: ['Restart It', 'Quit'] });
    expect(dialogs[0]!.detail).toContain('out of memory');
    expect(windows[0]!.progress.value).toBe(-1);
  });

  it('repeatedly lets the user quit', async () => {
    const { engine, person, app } = await start();
    person.answers(1);
    engine.crash(true);
    await until(() => app.hasQuit);
  });
});
