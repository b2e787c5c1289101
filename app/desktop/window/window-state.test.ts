import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeElectron } from '../electron.fixture.ts';
import { fitState, keepWindowState, readWindowState, SMALLEST } from './window-state.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-desktop-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SCREEN = { x: 0, y: 0, width: 1920, height: 1080 };

describe('the place of the window', () => {
  it('survives a restart, and for a maximized window also its normal bounds', async () => {
    const path = join(folder, 'deep', 'window.json');
    const fake = createFakeElectron({ userData: folder });
    await fake.app.whenReady();
    const window = new fake.electron.BrowserWindow({});
    keepWindowState(path, window);
    fake.windows[0]!.setBounds({ x: 100, y: 120, width: 1000, height: 700 });
    window.maximize();
    window.close();
    const kept = { x: 100, y: 120, width: 1000, height: 700, isMaximized: true };
    expect(readWindowState(path, fake.electron)).toEqual(kept);
  });

  it.each(['', '{', '[]', 'null', '{"width":"wide","height":9}', '{"width":1e400,"height":1}'])(
    'is the default if the file says %s',
    (text) => {
      const path = join(folder, 'window.json');
      writeFileSync(path, text);
      const { electron } = createFakeElectron({ userData: folder });
      expect(readWindowState(path, electron)).toEqual({ width: 1280, height: 800, isMaximized: false });
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );

  it('is left to the system if its screen is gone', () => {
    const state = { x: 2500, y: 100, width: 1000, height: 700, isMaximized: false };
    expect(fitState(state, [SCREEN])).toEqual({ width: 1000, height: 700, isMaximized: false });
    expect(fitState(state, [SCREEN, { x: 1920, y: 0, width: 1920, height: 1080 }])).toEqual(state);
  });

  it('always keeps the title bar reachable, and is never larger than its screen', () => {
    const number = fc.integer({ min: -5_000, max: 5_000 });
    const length = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(number, number, length, length, (x, y, width, height) => {
        const fitted = fitState({ x, y, width, height, isMaximized: false }, [SCREEN]);
        expect(fitted.width).toBeGreaterThanOrEqual(SMALLEST.width);
        expect(fitted.width).toBeLessThanOrEqual(SCREEN.width);
        expect(fitted.height).toBeLessThanOrEqual(SCREEN.height);
        if (fitted.x === undefined || fitted.y === undefined) return;
        expect(fitted.x).toBeLessThanOrEqual(SCREEN.width - 120);
        expect(fitted.x + fitted.width).toBeGreaterThanOrEqual(120);
        expect(fitted.y).toBeGreaterThanOrEqual(0);
        expect(fitted.y).toBeLessThanOrEqual(SCREEN.height - 32);
      }),
    );
  });
});
