/** Pages that say one thing, for a browser that has no session: no script, no style, nothing of the window. */
import type { ServerResponse } from 'node:http';

const TEXTS = {
  noSession: 'This window belongs to another browser. Open the link that "dray ui" printed.',
  usedLink:
    'This link has been used already: it opens one browser, once. Press Enter where "dray ui" runs for a new one.',
  early: 'This link is kept for the browser that shows it.',
} as const;

export function sendPlainPage(response: ServerResponse, text: keyof typeof TEXTS): void {
  sendPage(response, text === 'early' ? 503 : 403, `<p>${TEXTS[text]}</p>`);
}

/**
 * A link that was clicked on another site's page, or that a file led to, brings no cookie of the kind
 * `SameSite=Strict`, though the browser has it; a redirect of such a link brings none either. From a page of
 * ours the same address brings it.
 *
 * @param hash The place in the window, and its key. Browsers don't send this part of an address, so the page
 * adds it.
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
