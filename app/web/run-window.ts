/** `dray ui`: the engine in its thread, the window on loopback, until it is stopped. */
import { DrayError, toDrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs.ts';
import { openHost } from '../../engine/host/open-host.ts';
import { findLinkFolder, type LinkFile, writeLinkFile } from './link-file.ts';
import { openBrowser, openerOf } from './open-browser.ts';
import { serveWindow, type WindowServer, type WindowServerOptions } from './serve-window.ts';
import { readWindowFiles } from './window-files.ts';
import { findWindowFolder } from './window-folder.ts';

/** Always the same where it is free, so that a tunnel or a bookmark leads to it. */
const USUAL_PORT = 7371;

export interface WindowRequest {
  /** 0: any that is free. Default: 7371, or any where that is taken. */
  readonly port?: number;
  readonly opensBrowser: boolean;
  /** Each thing that comes of it asks for a further link. */
  readonly linkRequests?: NodeJS.ReadableStream;
}

export interface WindowSummary {
  readonly port: number;
  /** Browsers that used a link. */
  readonly opened: number;
}

/** Resolves when the signal fires. @throws `usage` when the port is taken. */
export async function runWindow(context: JobContext, request: WindowRequest): Promise<WindowSummary> {
  const { emit, environment, signal } = context;
  const warn = (warning: string, message: string) => emit({ type: 'warning', warning, message });
  const folder = await findWindowFolder({
    onBuild: () => warn('windowBuilt', 'The window is built first, which takes a moment.'),
  });
  const files = readWindowFiles(folder);
  let opened = 0;
  let browser: StartedBrowser | undefined;
  const host = openHost({
    environment,
    onCrash: (error) => warn('engineStopped', toDrayError(error).message),
  });
  try {
    const server = await serveOnPort(request.port, {
      files,
      openPort: () => host.openPort(),
      dropContext: context,
      onOpened: (link) => {
        opened += 1;
        if (link === browser?.link) browser.forget();
      },
    });
    if (request.port === undefined && server.port !== USUAL_PORT)
      warn(
        'portTaken',
        `Port ${USUAL_PORT} is taken, most likely by another "dray ui": this one is at ${server.port}.`,
      );
    const tellLink = () => emit({ type: 'window', url: server.newLink(), port: server.port });
    tellLink();
    request.linkRequests?.on('data', tellLink);
    if (request.opensBrowser) browser = startBrowser(context, server, warn);
    await stopped(signal);
    request.linkRequests?.off('data', tellLink);
    await server.close();
    return { port: server.port, opened };
  } finally {
    browser?.forget();
    await host.close();
  }
}

interface StartedBrowser {
  readonly link: string;
  /** Removes what led to the link. */
  readonly forget: () => void;
}

/** With a link of its own: the one that was printed still opens whatever browser the user likes better. */
function startBrowser(
  { environment, signal }: JobContext,
  server: WindowServer,
  warn: (warning: string, message: string) => void,
): StartedBrowser {
  const link = server.newLink();
  let file: LinkFile | undefined;
  let isForgotten = false;
  const open = async () => {
    if (process.platform === 'win32') return openBrowser(openerOf(link), environment);
    const folder = await findLinkFolder(environment);
    if (isForgotten) return true;
    file = writeLinkFile(link, folder);
    return openBrowser(openerOf(file.path), environment);
  };
  open().then(
    (isOpened) => {
      if (!isOpened && !signal.aborted)
        warn('noBrowser', 'No browser could be started here: open the link yourself.');
    },
    (error: unknown) => warn('noBrowser', `No browser was started: ${toDrayError(error).message}`),
  );
  return {
    link,
    forget: () => {
      isForgotten = true;
      file?.[Symbol.dispose]();
    },
  };
}

async function serveOnPort(
  port: number | undefined,
  options: Omit<WindowServerOptions, 'port'>,
): Promise<WindowServer> {
  try {
    return await serveWindow({ ...options, port: port ?? USUAL_PORT });
  } catch (error) {
    const isTaken = error instanceof DrayError && error.data.reason === 'EADDRINUSE';
    if (port !== undefined || !isTaken) throw error;
    return serveWindow({ ...options, port: 0 });
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}
