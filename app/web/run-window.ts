/** `dray ui`: runs the engine in its thread and the window on loopback until stopped. */
import { DrayError, toDrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { connectHost } from '../../engine/api/window/host-client.ts';
import { untilAborted } from '../../engine/base/abort.ts';
import { type OpenHost, openHost } from '../../engine/host/open-host.ts';
import { drayProcess } from '../../engine/jobs/saved/dray-process.ts';
import { allowedBy } from '../../engine/jobs/session/user-remotes.ts';
import { findWorkspace } from '../../engine/workspace/workspace-folder.ts';
import { limitedDrops } from './drop-context.ts';
import { serveWindow, type WindowServer, type WindowServerOptions } from './serve-window.ts';
import { type StartedBrowser, startBrowser } from './start-browser.ts';
import { readWindowFiles } from './window-files.ts';
import { findWindowFolder } from './window-folder.ts';

/** Always the same port if it is free, so that a tunnel or a bookmark keeps working. */
const USUAL_PORT = 7371;

export interface WindowRequest {
  /** 0: any free port. Default: 7371, or any free port if that is taken. */
  readonly port?: number;
  readonly opensBrowser: boolean;
  /** The command line that starts this program again, for due jobs. Absent: no jobs run. */
  readonly jobCommand?: readonly [string, ...string[]];
  /** See `OpenHostOptions`. */
  readonly fleetLinkUrl?: URL;
  /** Every item requests another link. */
  readonly linkRequests?: NodeJS.ReadableStream;
  /** For tests: another engine. */
  readonly workerUrl?: URL;
}

export interface WindowSummary {
  readonly port: number;
  /** The number of browsers that used a link. */
  readonly opened: number;
}

/**
 * Resolves when the signal fires. @throws `usage` if the port is taken, `internal` if the engine keeps
 * crashing.
 */
export async function runWindow(context: JobContext, request: WindowRequest): Promise<WindowSummary> {
  const { emit, environment, signal } = context;
  const warn = (warning: string, message: string) => emit({ type: 'warning', warning, message });
  const folder = await findWindowFolder({
    onBuild: () => warn('windowBuilt', 'Building the window first; this takes a moment.'),
  });
  const files = readWindowFiles(folder);
  // Started in a workspace, the window opens on that workspace.
  const root = findRoot(context);
  let opened = 0;
  let browser: StartedBrowser | undefined;
  let server: WindowServer | undefined;
  const givenUp = Promise.withResolvers<never>();
  givenUp.promise.catch(() => {});
  const host = openHost({
    environment,
    connection: context.connection,
    onCrash: (error, isGivenUp) =>
      isGivenUp ? givenUp.reject(error) : warn('engineStopped', toDrayError(error).message),
    onJobEvent: emit,
    ...(request.jobCommand ? { runDray: drayProcess(request.jobCommand) } : {}),
    ...(request.fleetLinkUrl ? { fleetLinkUrl: request.fleetLinkUrl } : {}),
    ...(request.workerUrl ? { workerUrl: request.workerUrl } : {}),
  });
  try {
    server = await serveOnPort(request.port, {
      files,
      openPort: () => host.openPort(),
      dropContext: limitedDrops(context, { environment: () => host.readEnvironment() }),
      ...(root === undefined ? {} : { startsAt: `#/home?${new URLSearchParams({ workspace: root })}` }),
      onOpened: (link) => {
        opened += 1;
        if (link === browser?.link) browser.forget();
      },
    });
    if (request.port === undefined && server.port !== USUAL_PORT)
      warn(
        'portTaken',
        `Port ${USUAL_PORT} is taken, most likely by another "dray ui". This window uses port ${server.port}.`,
      );
    if (root !== undefined) await addWorkspace(host, root);
    const { newLink, port } = server;
    const emitLink = () => emit({ type: 'window', url: newLink(), port });
    emitLink();
    request.linkRequests?.on('data', emitLink);
    if (request.opensBrowser) {
      const onFailure = (message: string) => warn('noBrowser', message);
      browser = startBrowser(newLink(), { environment, signal, onFailure });
    }
    try {
      // A window without an engine is useless.
      await Promise.race([untilAborted(signal), givenUp.promise]);
    } finally {
      request.linkRequests?.off('data', emitLink);
    }
    return { port, opened };
  } finally {
    browser?.forget();
    await Promise.all([server?.close(), host.close()]);
  }
}

/** One of another user's counts: its card on Home says whose it is, and how to trust it. */
function findRoot(context: JobContext): string | undefined {
  try {
    return findWorkspace(context.directory, allowedBy(context))?.root;
  } catch (error) {
    if (error instanceof DrayError && error.data.reason === 'foreignFolder') return String(error.data.root);
    throw error;
  }
}

async function addWorkspace(host: OpenHost, root: string): Promise<void> {
  const client = connectHost(host.openPort());
  try {
    await client.ask('home.addWorkspace', { root, isForeignListed: true });
  } finally {
    client.close();
  }
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
