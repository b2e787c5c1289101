/**
 * Answers the page's requests: a port, the system's dialogs, a drag of files, a test notice, saving
 * secrets.
 */
import { lstatSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';
import type { OpenDialogOptions } from 'electron';
import { testEnding } from '../../engine/api/text/job-endings.ts';
import {
  CHOOSE_FOLDER_CHANNEL,
  DRAG_CHANNEL,
  PORT_CHANNEL,
  REVEAL_CHANNEL,
  SAVE_KEYS_CHANNEL,
  SECRETS_CHANNEL,
  TEST_NOTICE_CHANNEL,
} from './channels.ts';
import type { Electron } from './electron-parts.ts';
import type { EngineHost } from './engine-host.ts';
import { notify } from './notify.ts';
import { readKeys, type Secrets } from './secrets.ts';
import { answerOwn, hearOwn } from './senders.ts';
import type { MainWindow } from './window/main-window.ts';

const TITLE_LENGTH_MAX = 200;
const PATH_LENGTH_MAX = 32_768;

export interface OwnQuestionsOptions {
  readonly engine: Pick<EngineHost, 'ask' | 'handPort' | 'renewEnvironment'>;
  /** Follows the pointer during a drag. macOS refuses a drag without one. */
  readonly dragIcon: string;
  readonly secrets: Secrets;
  readonly window: Pick<MainWindow, 'current' | 'show'>;
}

export function answerOwnQuestions(
  electron: Pick<Electron, 'ipcMain' | 'dialog' | 'Notification' | 'shell'>,
  { dragIcon, engine, secrets, window }: OwnQuestionsOptions,
): void {
  hearOwn(electron, PORT_CHANNEL, ({ sender }) => engine.handPort(sender));
  answerOwn(electron, CHOOSE_FOLDER_CHANNEL, readTitle, async (title) => {
    const owner = window.current();
    const options: OpenDialogOptions = { title, properties: ['openDirectory', 'createDirectory'] };
    const { canceled, filePaths } = await (owner
      ? electron.dialog.showOpenDialog(owner, options)
      : electron.dialog.showOpenDialog(options));
    return canceled ? undefined : filePaths[0];
  });
  answerOwn(electron, REVEAL_CHANNEL, readPath, (path) => {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
    electron.shell.showItemInFolder(path);
    return true;
  });
  // The paths come from the engine, so a page can drag nothing but what the engine has prepared.
  answerOwn(electron, DRAG_CHANNEL, readTitle, async (id, { sender }) => {
    const { paths } = await engine.ask('drags.begin', { id });
    const [file] = paths;
    if (file !== undefined && !sender.isDestroyed())
      sender.startDrag({ file, files: [...paths], icon: dragIcon });
  });
  answerOwn(electron, TEST_NOTICE_CHANNEL, readTitle, (job) =>
    notify(electron, testEnding(job), () => window.show('#/jobs')),
  );
  answerOwn(electron, SECRETS_CHANNEL, readNothing, () => secrets.state());
  answerOwn(electron, SAVE_KEYS_CHANNEL, readKeys, async ({ keys, profile }) => {
    const state = await secrets.saveKeys(profile, keys);
    await engine.renewEnvironment();
    return state;
  });
}

function readTitle([title]: readonly unknown[]): string {
  if (typeof title !== 'string' || title.length > TITLE_LENGTH_MAX)
    throw new Error('A title must be a short text.');
  return title;
}

/**
 * Accepts only an absolute local path without `..`. Refuses network paths, because Windows sends the user's
 * credentials to the machine that such a path names.
 */
function readPath([given]: readonly unknown[]): string {
  if (typeof given !== 'string' || given.length > PATH_LENGTH_MAX || given.includes('\0'))
    throw new Error('A path must be a text.');
  if (!isAbsolute(given) || /(^|[\\/])\.\.([\\/]|$)|^[\\/]{2}/.test(given))
    throw new Error('A path must be an absolute path of this computer.');
  return normalize(given);
}

function readNothing(): undefined {
  return undefined;
}
