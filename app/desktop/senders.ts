/**
 * Who may ask the main process: the top frame of our own page. Everything else that reaches `ipcMain` (a frame within, a page that was
 * navigated to in spite of all, a frame that is gone) is told nothing.
 */
import type { IpcMainEvent, IpcMainInvokeEvent, WebFrameMain } from 'electron';
import type { Electron } from './electron-parts.ts';
import { isOwnUrl } from './own-origin.ts';

function isOwnSender({ senderFrame }: { readonly senderFrame: WebFrameMain | null }): boolean {
  return senderFrame !== null && senderFrame.parent === null && isOwnUrl(senderFrame.url);
}

/** @param read Checks what came with the question; throws when it is not what it has to be. */
export function answerOwn<Input, Answer>(
  { ipcMain }: Pick<Electron, 'ipcMain'>,
  channel: string,
  read: (given: readonly unknown[]) => Input,
  answer: (input: Input, event: IpcMainInvokeEvent) => Answer | Promise<Answer>,
): void {
  ipcMain.handle(channel, (event, ...given: unknown[]) => {
    if (!isOwnSender(event)) throw new Error('Refused.');
    return answer(read(given), event);
  });
}

export function hearOwn(
  { ipcMain }: Pick<Electron, 'ipcMain'>,
  channel: string,
  hear: (event: IpcMainEvent) => void,
): void {
  ipcMain.on(channel, (event) => {
    if (isOwnSender(event)) hear(event);
  });
}
