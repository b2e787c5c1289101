/**
 * Measures a push of many files with the Changes screen open, and the same push by the command line, one
 * after the other.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import type { S3Server } from '../../e2e/servers/versitygw.ts';
import { openWorkspace } from '../../e2e/window/window-workspace.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { testContext } from '../../engine/jobs/session/job.fixture.ts';
import { createMeter } from '../machines/measure.ts';

export interface PushPlace {
  /** The files to push; each run creates its `.dray` anew. */
  readonly root: string;
  readonly command: string;
  readonly server: S3Server;
}

const PUSH_MS_MAX = 600_000;

/** Makes a new repository and scans the folder once, as a screen that shows its changes does. */
async function begin({ command, root, server }: PushPlace, name: string, signal: AbortSignal): Promise<void> {
  rmSync(join(root, '.dray'), { recursive: true, force: true });
  const environment = { ...server.environment, DRAY_AUTHOR: 'tester' };
  await initWorkspace(testContext(root, { environment }), { remoteUrl: `s3://${server.bucket}/${name}` });
  await runDray({ command, root, server }, ['status'], signal);
}

export async function measureCliPush(place: PushPlace, name: string, signal: AbortSignal): Promise<number> {
  await begin(place, name, signal);
  return (await runDray(place, ['push'], signal)).wallMs;
}

/** From the click to the message that it is done. */
export async function measureWindowPush(
  browser: Browser,
  place: PushPlace,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<number> {
  await begin(place, name, signal);
  await using window = await openWorkspace(browser, {
    command: place.command,
    environment: place.server.environment,
    root: place.root,
    screen: '#/changes',
  });
  const button = window.page.getByRole('button', { name: /^Push \d/ });
  await button.waitFor({ timeout: PUSH_MS_MAX });
  const measured = window.page.evaluate<number>(FROM_PRESS_TO_WORD);
  await button.click();
  return await measured;
}

/**
 * Measured in the page, in ms from the click to the message: Playwright looks for a text only every half a
 * second.
 */
const FROM_PRESS_TO_WORD = `new Promise((resolve) => {
  let pressedMs = 0;
  addEventListener('pointerdown', ({ timeStamp }) => { pressedMs = timeStamp; }, { capture: true });
  const observer = new MutationObserver(() => {
    const said = [...document.querySelectorAll('[role=status]')].map(({ textContent }) => textContent).join('');
    if (!said.includes('Pushed as commit')) return;
    observer.disconnect();
    resolve(performance.now() - pressedMs);
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
})`;

async function runDray({ command, root, server }: PushPlace, args: readonly string[], signal: AbortSignal) {
  const meter = await createMeter(join(root, '..'));
  const environment = { ...process.env, ...server.environment, DRAY_AUTHOR: 'tester' };
  return meter.run({ file: process.execPath, args: [command, '-C', root, ...args], environment }, signal);
}
