/** Dialogs and menus at the width of a phone, and at 200 % zoom: whole, with every button in reach. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, NO_KEYS, type OpenWindow } from './open-window.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

const WIDTH = 360;
const HEIGHT = 740;
/** 720 by 800 at 200 %. */
const ZOOMED_HEIGHT = 400;
const LONG = 'temperature and humidity of the northern station, corrected.csv';

type Open = (page: Page) => Promise<void>;

const press =
  (name: RegExp | string): Open =>
  (page) =>
    page.getByRole('main').getByRole('button', { name }).first().click();
const menuAt =
  (row: string): Open =>
  (page) =>
    page.locator(row).filter({ visible: true }).first().click({ button: 'right' });
const item =
  (name: RegExp | string): Open =>
  (page) =>
    page.getByRole('menuitem', { name }).first().click();
const key =
  (name: string): Open =>
  (page) =>
    page.keyboard.press(name);
/** A button within the topmost dialog. */
const pressIn =
  (name: RegExp | string): Open =>
  (page) =>
    page.getByRole('dialog').last().getByRole('button', { name }).first().click();
const choose =
  (name: RegExp | string): Open =>
  (page) =>
    page.getByRole('option', { name }).first().click();
const radio =
  (name: RegExp | string): Open =>
  async (page) => {
    await page.getByRole('radio', { name }).first().click();
  };
const FILE = `.entry-row:has-text("corrected.csv")`;

/** By screen: what opens, and how. */
type Openings = Readonly<Record<string, readonly (readonly [what: string, ...steps: Open[]])[]>>;
const OPENINGS: Openings = {
  home: [
    ['the branches of a workspace', press(/^Branch/)],
    ['the menu of a workspace', press(/^More of/)],
    ['Forget', press(/^More of/), item(/^Forget/)],
    ['the commands', key('Control+k')],
  ],
  'changes?direction=push': [
    ['the menu of a change', menuAt('.change-row')],
    ['Ignore', menuAt('.change-row'), item(/^Ignore/)],
    ['the history of a path', menuAt('.change-row'), item(/^History of/)],
    ['Kept files', press('Kept files')],
    ['the branches', press(/^Branch/)],
  ],
  history: [
    ['the menu of a commit', menuAt('.commit-subject')],
    ['the menu of a branch', menuAt('.ref')],
    ['Rename', menuAt('.ref'), item(/^Rename/)],
    ['the branches to show', press(/All branches/)],
    ['the versions to compare', press('Compare'), press(/^A, before/)],
  ],
  'history?do=switch': [['the branches']],
  'history?do=tag': [['New tag']],
  'history?do=restore': [['Restore']],
  transfers: [
    ['Keys', press('Enter the keys')],
    ['the menu of a transfer', menuAt('.transfer')],
    ['Cancel all', press('Cancel all')],
  ],
  'jobs?add=yes': [['New job']],
  jobs: [
    ['the menu of a job', menuAt('.job')],
    ['its log', press(/^Log/)],
    ['Edit', press(/^Edit/)],
    ['Remove', press(/^Remove/)],
  ],
  browse: [
    ['New folder', press('New folder')],
    ['the places of a pane', press(/This computer/)],
    ['the menu of an entry', menuAt(FILE)],
    ['Quick look', menuAt(FILE), item('Quick look')],
    ['Delete', menuAt(FILE), item('Delete...')],
    ['the preview of a sync', press(/^Sync/)],
  ],
  remotes: [
    ['Import', press(/^Import/)],
    ['the test of a remote', press(/^Test/)],
    ['Edit', press(/^Edit/)],
  ],
  settings: [
    ['the units of a limit', radio('At some hours'), press(/Unit/)],
    ['Remove', press(/^Remove/)],
  ],
};

/** By screen: what opens within a dialog or a menu. */
const NESTED: Openings = {
  home: [['the menu of a branch', press(/^Branch/), pressIn(/^More of main/)]],
  history: [['the versions of Move', menuAt('.ref'), item(/^Move/), pressIn(/^Move it to/)]],
  'history?do=tag': [['the versions of New tag', pressIn(/^At/)]],
  'jobs?add=yes': [
    ['what a job does', pressIn(/What it does/)],
    ['its workspace', pressIn(/What it does/), choose('Push'), pressIn(/Workspace/)],
    ['its schedule', pressIn(/Schedule/)],
    ['its day', pressIn(/Schedule/), choose(/week/i), pressIn(/Day/)],
    ['its webhook', (page) => page.getByText('Notices: on this computer').click(), pressIn(/Webhook/)],
  ],
  remotes: [
    ['the providers of a remote', press('Add remote'), radio('Bucket'), pressIn(/Provider/)],
    ['its keys', press('Add remote'), radio('Bucket'), pressIn(/Keys/)],
  ],
};

describe.skipIf(!findChromium())('A window of 360 px', () => {
  let browser: Browser;
  let sandbox: Sandbox;
  let window: OpenWindow;
  beforeAll(async () => {
    browser = await launchBrowser();
    sandbox = createSandbox();
    const root = sandbox.path('measurements of the second campaign');
    mkdirSync(root, { recursive: true });
    const dray = (...parameters: string[]) => runCli(parameters, { cwd: root, environment: {} });
    writeFileSync(join(root, LONG), 'first');
    await dray('init', '--remote', sandbox.path('versions'));
    await dray('push', '-m', 'The first campaign, with all stations of the north and the south');
    writeFileSync(join(root, LONG), 'second');
    // Without keys a transfer waits, so it stays in the queue.
    window = await openWorkspace(browser, { root, screen: '#/home', environment: NO_KEYS });
    const { page } = window;
    await page.setViewportSize({ width: WIDTH, height: HEIGHT });
    for (const [side, folder] of [
      ['left', `${root.slice(1)}/`],
      ['right', `${sandbox.path('versions').slice(1)}/`],
    ] as const)
      await askEngine(page, 'browse.keepPane', {
        side,
        pane: { root: '/', folder, column: 'name', isDescending: false },
      });
    await askEngine(page, 'remotes.add', { name: 'laboratory-archive', url: sandbox.path('archive') });
    await askEngine(page, 'transfers.start', {
      kind: 'copy',
      source: root,
      destination: 's3://archive-of-the-laboratory/second campaign?profile=laboratory-archive',
    });
    const keys = { accessKeyId: 'key', secretAccessKey: 'secret' };
    await askEngine(page, 'keys.hold', { profile: 'archive-of-the-laboratory-of-the-north', keys });
    const words = ['copy', root, sandbox.path('archive', 'copies of everything that was measured')];
    const name = 'copies-of-the-northern-station-every-night';
    await askEngine(page, 'saved.save', { name, words, daily: '03:00' });
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    sandbox?.[Symbol.dispose]();
    await browser?.close();
  });

  const boxes = () => window.page.locator(':is(.modal, .popover):not([data-exiting])');
  const isWhole = async (what: string, height: number, count = 1) => {
    await window.page.setViewportSize({ width: WIDTH, height });
    const look = async () => (await boxes().evaluateAll(faultsOf, count)).join('\n');
    await expect.poll(look, { ...WAIT, message: `${what}, ${height} px high` }).toBe('');
  };
  const closeAll = async () => {
    await window.page.setViewportSize({ width: WIDTH, height: HEIGHT });
    // The first one may come before the focus.
    const close = async () => {
      await window.page.keyboard.press('Escape');
      return boxes().count();
    };
    await expect.poll(close, WAIT).toBe(0);
  };

  it('shows dialogs and menus whole, with its buttons in reach', async () => {
    const { page } = window;
    for (const [at, openings] of Object.entries(OPENINGS))
      for (const [what, ...steps] of openings) {
        await page.goto(`${window.origin}/#/${at}`);
        for (const step of steps) await step(page);
        await isWhole(`${at}: ${what}`, HEIGHT);
        // A menu stays where it was opened.
        if (await page.locator('.modal').isVisible()) await isWhole(`${at}: ${what}`, ZOOMED_HEIGHT);
        await closeAll();
      }
    expect(window.complaints).toEqual([]);
  });

  it('shows menus whole that open within a dialog or another menu', async () => {
    const { page } = window;
    for (const [at, openings] of Object.entries(NESTED))
      for (const [what, ...steps] of openings)
        for (const height of [HEIGHT, ZOOMED_HEIGHT]) {
          await page.setViewportSize({ width: WIDTH, height });
          await page.goto(`${window.origin}/#/${at}`);
          for (const step of steps) await step(page);
          await isWhole(`${at}: ${what}`, height, 2);
          await closeAll();
        }
    expect(window.complaints).toEqual([]);
  });
});

/** The parts of the topmost dialog or menu that are cut, need sideways scrolling, or cannot be pressed. */
function faultsOf(boxes: readonly Element[], count: number): readonly string[] {
  const box = boxes.at(-1);
  // A menu that led to a dialog goes first.
  if (!box || boxes.length !== count) return [`${boxes.length} are open`];
  const faults: string[] = [];
  let seen = 0;
  const nameOf = (element: Element) =>
    `${element.className} “${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40)}”`;
  const { bottom, left, right, top } = box.getBoundingClientRect();
  if (left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5)
    faults.push(`lies at ${[left, top, right, bottom].map(Math.round)}, out of the window`);
  if (document.documentElement.scrollWidth > innerWidth) faults.push('makes the page scroll sideways');
  for (const element of [box, ...box.querySelectorAll('*')]) {
    const { overflowX } = getComputedStyle(element);
    const lost = element.scrollWidth - element.clientWidth;
    if (['auto', 'scroll'].includes(overflowX) && lost > 1)
      faults.push(`${nameOf(element)} scrolls sideways by ${lost} px`);
    if (element.matches('.cut') && lost > 1 && element.clientWidth < 60)
      faults.push(`${nameOf(element)} keeps ${element.clientWidth} px`);
  }
  const buttons = box.querySelectorAll<HTMLElement>(
    'button, [role^="menuitem"], [role="option"], a[href], input, textarea, select',
  );
  for (const button of buttons) {
    const isShown = button.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!isShown || button.closest('[aria-hidden=true]')) continue;
    // For screen readers alone: a dialog's second way out, and the boxes that their labels draw.
    if (button.parentElement!.offsetWidth <= 1) continue;
    seen += 1;
    button.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const area = button.getBoundingClientRect();
    const hit = document.elementFromPoint((area.left + area.right) / 2, (area.top + area.bottom) / 2);
    if (!hit || !(button.contains(hit) || hit.contains(button)))
      faults.push(`${nameOf(button)} cannot be reached`);
    if (area.left < left - 1 || area.right > right + 1) faults.push(`${nameOf(button)} sticks out`);
    if (button.matches('button') && button.scrollWidth > button.clientWidth + 1)
      faults.push(`${nameOf(button)} is cut by ${button.scrollWidth - button.clientWidth} px`);
  }
  if (seen === 0) faults.push('shows no button');
  return faults;
}
