/**
 * Confines the window: no page but ours, no second window, no frame of another origin, no download. The
 * system's browser opens outside links that the user clicks, after a check.
 */
import type { WebContents } from 'electron';
import type { Electron } from '../electron-parts.ts';
import { isOwnUrl } from '../own-origin.ts';

const URL_LENGTH_MAX = 2_048;

export function confineNavigation({ app, shell }: Pick<Electron, 'app' | 'shell'>): void {
  app.on('web-contents-created', (_event, contents) => confine(contents, { shell }));
}

function confine(contents: WebContents, { shell }: Pick<Electron, 'shell'>): void {
  const refuse = (event: { readonly url: string; preventDefault(): void }) => {
    if (!isOwnUrl(event.url)) event.preventDefault();
  };
  contents.on('will-navigate', refuse);
  contents.on('will-frame-navigate', refuse);
  contents.on('will-redirect', refuse);
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    const outside = outsideLink(url);
    if (outside !== undefined) void shell.openExternal(outside).catch(() => {});
    return { action: 'deny' };
  });
}

/**
 * A URL that the system may open, or undefined. Only `https:`, because any other scheme may start a program,
 * and without a user name, which makes one host look like another.
 */
export function outsideLink(text: string): string | undefined {
  if (text.length > URL_LENGTH_MAX) return undefined;
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.hostname === '') return undefined;
  return url.username === '' && url.password === '' ? url.href : undefined;
}
