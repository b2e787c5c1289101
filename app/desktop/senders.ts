/**
 * Accepts requests to the main process only from the top frame of our own page. Everything else that reaches
 * `ipcMain` (an inner frame, a page that got there despite all guards, a frame that is gone) gets no answer.
 */
import type { IpcMainEvent, IpcMainInvokeEvent, WebFrameMain } from 'electron';
import type { Electron } from './electron-parts.ts';
import { isOwnUrl } from './own-origin.ts';

function isOwnSender({ senderFrame }: { readonly senderFrame: WebFrameMain | null }): boolean {
  return senderFrame !== null && senderFrame.parent === null && isOwnUrl(senderFrame.url);
}

/** @param read Validates the request's content; throws if it is invalid. */
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
