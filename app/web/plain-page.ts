/**
 * Pages with a single message, for a browser without a session. No script, no style, nothing of the window.
 */
import type { ServerResponse } from 'node:http';

const TEXTS = {
  noSession: 'This window belongs to another browser. Open the link that "dray ui" printed.',
  usedLink:
    'This link was already used. A link opens one browser, once. Press Enter in the terminal that runs "dray ui" for a new one.',
  early: 'This link belongs to the browser that received it.',
} as const;

export function sendPlainPage(response: ServerResponse, text: keyof typeof TEXTS): void {
  sendPage(response, text === 'early' ? 503 : 403, `<p>${TEXTS[text]}</p>`);
}

/**
 * A link that was clicked on another site's page or in a file comes without the `SameSite=Strict` cookie,
 * even if the browser has it. A redirect does not bring it either; a reload from our own page does. @param
 * hash The place in the window, and its key. Browsers do not send this part of an address, so the page adds
 * it.
 */
export function sendOnceMore(response: ServerResponse, hash = ''): void {
  const address = `/?again${hash.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}`;
  sendPage(response, 200, `<meta http-equiv="refresh" content="0;url=${address}"><p>Opening...</p>`);
}

function sendPage(response: ServerResponse, status: number, body: string): void {
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.setHeader('cache-control', 'no-store');
  response.writeHead(status);
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Dray</title>${body}</html>\n`);
}
