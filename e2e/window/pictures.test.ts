/**
 * Each screen on a real workspace and a real store, in both themes: no accessibility violation by axe, and
 * equal to the picture in `screens/`, which the guide shows. `DRAY_SCREENS=write` writes the pictures anew.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { type BadNetwork, startToxiproxy } from '../servers/toxiproxy.ts';
import { startVersitygw } from '../servers/versitygw.ts';
import { askEngine } from './ask-engine.ts';
import { PLAYED_JOB, PLAYED_SERVER, playFleet } from './data/played-fleet.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, type OpenWindow, openWindow, THEMES, type Theme } from './open-window.ts';
import { BOTH_THEMES, findViolations, findViolationsInBothThemes } from './page/find-violations.ts';
import { makeSurvey } from './page/survey-screens.ts';
import { checkScreenshot } from './screenshots.ts';

const HOUR_MS = 3_600_000;
/** Pictures are always written in both themes. */
const themes = process.env.DRAY_SCREENS === 'write' ? THEMES.long : runBudget<readonly Theme[]>(THEMES);

describe.skipIf(!findChromium()).each(themes)('In the %s theme', (theme) => {
  const stack = new AsyncDisposableStack();
  let browser: Browser;
  let window: OpenWindow;
  let page: Page;
  let root: string;
  let otherRoot: string;
  let network: BadNetwork;

  beforeAll(async () => {
    const server = stack.use(await startVersitygw());
    browser = stack.adopt(await launchBrowser(), (it) => it.close());
    network = stack.use(await startToxiproxy({ upstream: server.endpoint }));
    const environment = { ...server.environment, AWS_ENDPOINT_URL: network.endpoint };
    window = stack.use(await openWindow(browser, { environment, theme }));
    page = window.page;
    [root, otherRoot] = [join(window.folder, 'coast-survey'), join(window.folder, 'noor')];
    await makeSurvey({
      root,
      otherRoot,
      remoteUrl: `s3://${server.bucket}/coast-survey`,
      environment: { ...server.environment, HOME: join(window.folder, 'home') },
    });
  });
  afterAll(() => stack.disposeAsync());

  /**
   * Sets the clock a few hours after the last push, so that no picture depends on the duration of the
   * tests.
   */
  beforeAll(async () => {
    await page.clock.setFixedTime(Date.now() + 3 * HOUR_MS);
    await page.getByLabel('Folder with your files').fill(root);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
  });

  const show = async (screen: string) => {
    await page.getByRole('navigation').getByRole('link', { name: screen }).click();
    await page.getByRole('heading', { name: screen, level: 1 }).waitFor();
    await page.getByText('Opening').waitFor({ state: 'detached' });
  };
  const expectScreen = async (name: string, shown = page) => {
    const found = theme === 'light' ? findViolationsInBothThemes(shown, BOTH_THEMES) : findViolations(shown);
    expect(await found).toEqual([]);
    await checkScreenshot(shown, `${name}-${theme}`);
  };

  longIt('Welcome passes axe and matches its picture', async () => {
    await using fresh = await openWindow(browser, { theme });
    for (const name of ['coast-survey', 'recordings', 'tables'])
      mkdirSync(join(fresh.folder, 'home', name), { recursive: true });
    await fresh.page.reload();
    await fresh.page.getByText('recordings').waitFor();
    await expectScreen('welcome', fresh.page);
  });

  it('Home passes axe and matches its picture', async () => {
    await show('Home');
    await page.getByText('added').first().waitFor();
    await expectScreen('home');
  });

  it('Changes passes axe and matches its picture', async () => {
    await show('Changes');
    await page.getByRole('row', { name: 'stations.csv' }).click();
    await page.getByRole('cell', { name: '13', exact: true }).first().waitFor();
    await expectScreen('changes');
  });

  longIt('Plan passes axe and matches its picture', async () => {
    await show('Plan');
    await page.getByText('The whole push').waitFor();
    await expectScreen('plan');
  });

  it('History passes axe and matches its picture', async () => {
    await show('History');
    await page.getByText('Stations calibrated').first().click();
    await page.getByText('stations.csv').waitFor();
    await expectScreen('history');
  });

  it('Browse passes axe and matches its picture', async () => {
    const folder = `${otherRoot.slice(1)}/`;
    const pane = { root: '/', folder, column: 'name', isDescending: false } as const;
    await askEngine(page, 'browse.keepPane', { side: 'left', pane });
    await show('Browse');
    const repository = page.getByRole('region', { name: 'Repository origin' });
    await repository.getByText('denoise').waitFor();
    await expectScreen('browse');
  });

  longIt('Repositories passes axe and matches its picture', async () => {
    await show('Repositories');
    await page
      .getByRole('button', { name: /^Check the space/ })
      .first()
      .click();
    await page.getByText('A collection frees').waitFor();
    await expectScreen('repositories');
  });

  longIt('Settings passes axe and matches its picture', async () => {
    await show('Settings');
    await page.getByText('Appearance').waitFor();
    await expectScreen('settings');
  });

  longIt('Jobs passes axe and matches its picture', async () => {
    mkdirSync(join(window.folder, 'backup'));
    await askEngine(page, 'saved.save', {
      name: 'weekly-check',
      words: ['verify', '--read-data=5'],
      directory: root,
      cron: ['0 9 * * mon'],
    });
    await askEngine(page, 'saved.save', {
      name: 'nightly-copy',
      // Short names, so that the number of lines does not depend on the random one of the folder.
      words: ['sync', 'coast-survey', 'backup'],
      directory: window.folder,
      daily: '03:00',
    });
    await askEngine(page, 'saved.run', { name: 'nightly-copy' });
    await show('Jobs');
    await page.getByText('Done').first().waitFor();
    await expectScreen('jobs');
  });

  longIt('Transfers passes axe and matches its picture', async () => {
    await network.setBandwidth(1_500);
    await show('Changes');
    await page.getByRole('button', { name: 'Show them' }).click();
    await page.getByText('I have seen the deletions').click();
    await page.getByRole('button', { name: /^Push \d+ changes/ }).click();
    await show('Transfers');
    await page.getByText(/ of \d+\.\d MiB/).waitFor();
    await page.getByText('that the link can take').waitFor();
    await page
      .getByText(/^a few seconds left/)
      .first()
      .waitFor();
    await expectScreen('transfers');
    await network.setBandwidth(0);
    await page.getByText('Done').first().waitFor();
  });

  /** After the push, so that it has requests of this month. */
  longIt('Remotes passes axe and matches its picture', async () => {
    for (const [name, url] of [
      ['disk', '/media/disk/coast'],
      ['nas', 'dray://nas:7370/coast'],
    ] as const)
      await askEngine(page, 'remotes.add', { name, url });
    await show('Remotes');
    await page.getByRole('heading', { name: 'nas' }).waitFor();
    await page.getByText('Requests by month').waitFor();
    await expectScreen('remotes');
  });

  longIt('Fleets passes axe and matches its picture', async () => {
    const nowMs = await page.evaluate(() => Date.now());
    await askEngine(page, 'fleet.keepServer', { server: PLAYED_SERVER });
    // Only new connections meet the played fleet.
    await playFleet(page, nowMs);
    await page.reload();
    await show('Fleets');
    await page.getByRole('link', { name: PLAYED_JOB }).waitFor();
    const found = theme === 'light' ? findViolationsInBothThemes(page, BOTH_THEMES) : findViolations(page);
    expect(await found).toEqual([]);
    await page.getByRole('link', { name: PLAYED_JOB }).click();
    await page.getByRole('listbox', { name: 'Ranges' }).waitFor();
    await expectScreen('fleet');
  });
});
