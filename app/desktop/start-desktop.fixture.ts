/** The whole desktop app in a fake Electron, with an engine that says what a test wants. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type DesktopFacts, startDesktop } from './desktop-app.ts';
import { createFakeElectron } from './electron.fixture.ts';
import type { FakeOptions } from './electron-app.fixture.ts';
import { createFakeEngine, until } from './engine.fixture.ts';

export interface StartOptions extends Partial<FakeOptions> {
  readonly answers?: Parameters<typeof createFakeEngine>[0];
}

/** For the tests of a file: gives each a user folder of its own, and removes it afterwards. */
export function inUserFolder() {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dray-desktop-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return {
    path: () => folder,
    start: (...given: DropFirst<Parameters<typeof startInFake>>) => startInFake(folder, ...given),
  };
}

type DropFirst<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;

/** @param folder The user's folder; the built window goes there too. */
async function startInFake(
  folder: string,
  facts: Partial<DesktopFacts> = {},
  { answers, ...options }: StartOptions = {},
  fake = createFakeElectron({ userData: folder, ...options }),
) {
  mkdirSync(join(folder, 'window'), { recursive: true });
  writeFileSync(join(folder, 'window', 'index.html'), '<!doctype html>');
  const engine = createFakeEngine(answers);
  const isFirst = await startDesktop(fake.electron, {
    platform: 'linux',
    environment: {},
    argv: ['/opt/dray'],
    program: '/opt/dray',
    windowFolder: join(folder, 'window'),
    preloadPath: '/app/preload.cjs',
    jobProcessPath: '/app/job-process.js',
    iconPath: '/app/icon.png',
    trayIconPath: '/app/tray.png',
    openHost: engine.openHost,
    ...facts,
  });
  if (isFirst) await until(() => engine.asked.some(({ name }) => name === 'transfers.watch'));
  const emitTransfers = async (...transfers: Parameters<typeof engine.emitTransfers>[0]) => {
    engine.emitTransfers(transfers);
    // Lets events and their consequences run, each one turn after the other.
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    ...fake,
    engine,
    isFirst,
    emitTransfers,
    places: () => fake.windows[0]!.webContents.sent.map(({ message }) => message),
  };
}
