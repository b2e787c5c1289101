/** Files that a page sends to `dray ui`, from a real Chromium and to a real store. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { WINDOW_KEY_HEADER } from '../../engine/api/window/window-key.ts';
import { startVersitygw } from '../servers/versitygw.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, openWindow, startUi } from './open-window.ts';

const MIB = 1024 * 1024;
const SIZE = 24 * MIB;
const WAIT = { timeout: 120_000, interval: 200 };

describe.skipIf(!findChromium())('A file that Chromium sends', () => {
  it('arrives in a folder byte for byte', async () => {
    const browser = await launchBrowser();
    try {
      await using window = await openWindow(browser);
      const place = join(window.folder, 'place');
      const status = await window.page.evaluate(
        async ({ place, size }) => {
          const body = new Blob([new Uint8Array(size).map((_, at) => at % 251)]);
          const query = new URLSearchParams({ place, path: 'below/sent.bin' });
          const headers = { 'dray-key': sessionStorage.getItem('dray-key') ?? '' };
          return (await fetch(`/drop?${query}`, { method: 'POST', headers, body })).status;
        },
        { place, size: SIZE },
      );
      expect(status).toBe(201);
      const landed = readFileSync(join(place, 'below/sent.bin'));
      expect(landed.equals(Buffer.alloc(SIZE).map((_, at) => at % 251))).toBe(true);
      expect(readdirSync(join(place, 'below'))).toEqual(['sent.bin']);
      expect(window.complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});

describe('A file sent to a store', () => {
  it('arrives whole, and a broken upload leaves no object and no parts', async () => {
    await using server = await startVersitygw();
    await using ui = await startUi({ environment: server.environment });
    const opened = await fetch(ui.link, { redirect: 'manual' });
    const [, key = ''] =
      /#key=([\w-]+)/.exec(`${opened.headers.get('location')} ${await opened.text()}`) ?? [];
    const headers = {
      cookie: opened.headers.get('set-cookie')!.split(';')[0]!,
      origin: ui.origin,
      [WINDOW_KEY_HEADER]: key,
    };
    const place = `s3://${server.bucket}/dropped`;
    const addressOf = (path: string) => `${ui.origin}/drop?${new URLSearchParams({ place, path })}`;
    const piece = Buffer.alloc(MIB, 'what is sent to a store ');
    const body = Buffer.concat(Array.from({ length: 24 }, () => piece));
    const answer = await fetch(addressOf('100%?.bin'), { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([201, { bytes: SIZE }]);
    const dray = (...parameters: string[]) =>
      runCli(parameters, { cwd: ui.folder, environment: server.environment as Record<string, string> });
    await dray('copy', `${place}/100%25%3F.bin`, 'back.bin');
    expect(readFileSync(join(ui.folder, 'back.bin')).equals(body)).toBe(true);

    const breaking = request(addressOf('broken.bin'), {
      method: 'POST',
      headers: { ...headers, 'content-length': String(100 * MIB) },
    });
    breaking.on('error', () => {});
    for (let count = 0; count < 40; count += 1)
      await new Promise((taken) => breaking.write(piece, () => taken(undefined)));
    const uploads = async () => (await dray('uploads', 'list', place)).stdout;
    await expect.poll(uploads, WAIT).toContain('broken.bin');
    breaking.destroy();
    await expect.poll(uploads, WAIT).not.toContain('broken.bin');
    expect((await dray('ls', place)).stdout).not.toContain('broken.bin');
    expect(existsSync(join(ui.folder, 'broken.bin'))).toBe(false);
  });
});
