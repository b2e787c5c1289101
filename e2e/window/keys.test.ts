/** Keys of stores that a person types into a browser's window: where they are, and where they never are. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { NO_KEYS, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { filesWith, pageTexts } from './page/held-texts.ts';

describe.skipIf(!findChromium())('Keys that are typed into a browser', () => {
  const started = startBrowserAndStore();

  it('open a remote, lie in no file and not in the page, and must be typed again for the next engine', async () => {
    const { browser, server } = started;
    const secret = server.secretAccessKey;
    await using first = await openWindow(browser, { environment: NO_KEYS, path: '/#/remotes' });
    const { folder, page } = first;
    writeFileSync(join(folder, 'one.txt'), 'one');
    await runCli(['copy', 'one.txt', `s3://${server.bucket}/typed/one.txt`], {
      cwd: folder,
      environment: server.environment,
    });

    await page.getByRole('button', { name: 'Add remote' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add a remote' });
    await dialog.getByLabel('Name').fill('lab');
    await dialog.getByLabel('Bucket').fill(server.bucket);
    await dialog.getByLabel('Folder in it (optional)').fill('typed');
    await dialog.getByLabel('Endpoint (optional)').fill(server.endpoint);
    await typeKeys(page, dialog, { ...server, secretAccessKey: 'wrong' });
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Secret key', { exact: true }).fill(secret);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByRole('status').filter({ hasText: 'supports everything that Dray needs' }).waitFor();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'lab' }) });
    await card.getByText('profile lab').waitFor();
    await card.getByRole('button', { name: 'Count its contents' }).click();
    await card.getByText('1 object').waitFor();

    await dropInto(page, 'lab:dropped.txt');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText("Keys of lab, until Dray's engine ends").waitFor();
    expect(await pageTexts(page)).not.toContain(secret);
    expect(filesWith(folder, secret)).toEqual([]);
    expect(first.engine.output()).not.toContain(secret);

    await first.engine.stop();
    await using next = await openWindow(browser, { folder, environment: NO_KEYS, path: '/#/remotes' });
    const again = next.page.getByRole('listitem').filter({ hasText: 'lab' }).first();
    await again.getByRole('button', { name: 'Count its contents' }).click();
    await again.getByText('The keys of “lab” are not here').waitFor();
    await again.getByRole('button', { name: 'Enter the keys' }).click();
    const asked = next.page.getByRole('dialog', { name: 'Keys of lab' });
    expect(await findViolationsInBothThemes(next.page)).toEqual([]);
    await fillKeys(asked, server);
    await asked.getByRole('button', { name: 'Use these keys' }).click();
    await again.getByText('2 objects').waitFor();
    expect(await pageTexts(next.page)).not.toContain(secret);
    expect(filesWith(folder, secret)).toEqual([]);
  });

  longIt('that are gone make a transfer wait with a button, and it runs once they are typed', async () => {
    const { browser, server } = started;
    const url = `s3://${server.bucket}/waiting?endpoint=${server.endpoint}&profile=gone`;
    await using window = await openWindow(browser, { environment: NO_KEYS, path: '/#/transfers' });
    const { folder, page } = window;
    const root = join(folder, 'work');
    mkdirSync(root);
    writeFileSync(join(root, 'a.txt'), 'a');
    await askEngine(page, 'transfers.start', { kind: 'copy', source: root, destination: url });
    const row = page.getByRole('row').filter({ hasText: 'Waiting' });
    await row.getByText('Needs the keys of “gone”').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await row.getByRole('button', { name: 'Enter the keys' }).click();
    const asked = page.getByRole('dialog', { name: 'Keys of gone' });
    await fillKeys(asked, server);
    await asked.getByRole('button', { name: 'Use these keys' }).click();
    await page.getByRole('list', { name: 'Ended transfers' }).getByText('Done').waitFor();
    expect(readFileSync(join(folder, 'home/.config/dray/transfers.json'), 'utf8')).not.toContain(
      server.secretAccessKey,
    );
    expect(window.complaints).toEqual([]);
  });
});

type Keys = Readonly<Record<'accessKeyId' | 'secretAccessKey', string>>;

async function typeKeys(page: Page, dialog: Locator, keys: Keys): Promise<void> {
  await dialog.getByRole('button', { name: /Keys/ }).click();
  await page.getByRole('option', { name: 'An access key' }).click();
  await fillKeys(dialog, keys);
}

async function fillKeys(dialog: Locator, { accessKeyId, secretAccessKey }: Keys): Promise<void> {
  await dialog.getByRole('textbox', { name: 'Access key' }).fill(accessKeyId);
  await dialog.getByLabel('Secret key', { exact: true }).fill(secretAccessKey);
}

/** A file that is dropped into the browser goes another way than the queue's. */
async function dropInto(page: Page, place: string): Promise<void> {
  const [folder = '', path = ''] = place.split(/(?<=:)/);
  const status = await page.evaluate(
    async (parameters) => {
      const headers = { 'dray-key': sessionStorage.getItem('dray-key') ?? '' };
      const query = new URLSearchParams(parameters);
      const answer = await fetch(`/drop?${query}`, { method: 'POST', headers, body: 'dropped' });
      return `${answer.status} ${await answer.text()}`;
    },
    { place: folder, path },
  );
  expect(status).toMatch(/^201/);
}
