/** The whole desktop app in a fake Electron, with an engine that says what a test wants. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DesktopFacts, startDesktop } from './desktop-app.ts';
import { createFakeElectron } from './electron.fixture.ts';
import type { FakeOptions } from './electron-app.fixture.ts';
import { createFakeEngine, until } from './engine.fixture.ts';

export interface StartOptions extends Partial<FakeOptions> {
  readonly answers?: Parameters<typeof createFakeEngine>[0];
}

/** @param folder Of the user; the built window is put there too. */
export async function startInFake(
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
    iconPath: '/app/icon.png',
    trayIconPath: '/app/tray.png',
    openHost: engine.openHost,
    ...facts,
  });
  if (isFirst) await until(() => engine.asked.some(({ name }) => name === 'transfers.watch'));
  const tell = async (...transfers: Parameters<typeof engine.tellTransfers>[0]) => {
    engine.tellTransfers(transfers);
    // The events and what follows from them, each a turn later than the one before.
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    ...fake,
    engine,
    isFirst,
    tell,
    places: () => fake.windows[0]!.webContents.sent.map(({ message }) => message),
  };
}
