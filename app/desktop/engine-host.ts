/**
 * The engine's thread behind the window: hands a port to the page that asks for one, follows the transfers
 * for the main process, and reports crashes. `openHost` restarts a crashed thread; this module decides what
 * the user learns.
 */
import type { MessagePortMain, WebContents } from 'electron';
import type { DrayError } from '../../engine/api/error.ts';
import type { SavedJobList } from '../../engine/api/host/saved.ts';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import type { AnswerOf, HostEvent, HostRequestName, InputOf } from '../../engine/api/host.ts';
import { PORT_END } from '../../engine/api/window/desktop-bridge.ts';
import { connectHost, type HostClient } from '../../engine/api/window/host-client.ts';
import type { HostPort } from '../../engine/api/window/host-port.ts';
import type { OpenHost, OpenHostOptions } from '../../engine/host/open-host.ts';
import { PORT_CHANNEL } from './channels.ts';
import type { Electron } from './electron-parts.ts';

type Environment = OpenHostOptions['environment'];

export interface EngineHostOptions {
  readonly openHost: (options: OpenHostOptions) => OpenHost;
  readonly environment: () => Promise<Environment>;
  readonly runDray: NonNullable<OpenHostOptions['runDray']>;
  /** True if a login started the app, so jobs that run at login are due. */
  readonly isLogin: boolean;
  readonly onJobs: (list: SavedJobList) => void;
  readonly onTransfers: (transfers: readonly Transfer[]) => void;
  /** `isGivenUp`: stopped until `startAnew`. */
  readonly onCrash: (error: DrayError, isGivenUp: boolean) => void;
}

export interface EngineHost {
  /** Closes the page's old port. While the engine is given up, the page waits for its port. */
  readonly handPort: (contents: WebContents) => void;
  readonly ask: <N extends HostRequestName>(name: N, input: InputOf<N>) => Promise<AnswerOf<N>>;
  /** Later jobs use the current environment; running jobs keep theirs. */
  readonly renewEnvironment: () => Promise<void>;
  /** Restarts with the current environment. Transfers continue in the new thread. */
  readonly startAnew: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openEngineHost(
  { MessageChannelMain }: Pick<Electron, 'MessageChannelMain'>,
  { openHost, environment, isLogin, onCrash, onJobs, onTransfers, runDray }: EngineHostOptions,
): Promise<EngineHost> {
  const ports = new Map<WebContents, MessagePortMain>();
  const waiting = new Set<WebContents>();
  let isGivenUp = false;
  let isClosing = false;
  let client: HostClient | undefined;
  let host = await start(isLogin);
  follow();

  async function start(isLogin: boolean): Promise<OpenHost> {
    isGivenUp = false;
    return openHost({
      environment: await environment(),
      runDray,
      isLogin,
      onCrash: (error, isLast) => {
        isGivenUp = isLast;
        onCrash(error, isLast);
      },
    });
  }

  /**
   * A client of our own. Its port closes when the thread crashes; by then the next thread exists, or none
   * will.
   */
  function follow(): void {
    const followed = tryOpenPort();
    if (!followed) return;
    const own = connectHost(followed);
    client = own;
    watchWork(own, { onJobs, onTransfers });
    own.onClose(() => {
      if (client === own && !isClosing) queueMicrotask(follow);
    });
  }

  /** Undefined while the engine is given up; `onCrash` reports that, not this function. */
  function tryOpenPort(): HostPort | undefined {
    try {
      return isGivenUp || isClosing ? undefined : host.openPort();
    } catch {
      return undefined;
    }
  }

  function handPort(contents: WebContents): void {
    if (contents.isDestroyed()) return;
    ports.get(contents)?.close();
    const enginePort = tryOpenPort();
    if (!enginePort) {
      waiting.add(contents);
      return;
    }
    const { port1, port2 } = new MessageChannelMain();
    join(port1, enginePort);
    ports.set(contents, port1);
    port1.on('close', () => {
      if (ports.get(contents) === port1) ports.delete(contents);
    });
    contents.postMessage(PORT_CHANNEL, null, [port2]);
  }

  async function stop(): Promise<void> {
    isClosing = true;
    client?.close();
    for (const port of ports.values()) endPort(port);
    ports.clear();
    await host.close();
  }

  return {
    handPort,
    ask: (name, input) => {
      if (!client) return Promise.reject(new Error('The engine is not running.'));
      return client.ask(name, input);
    },
    renewEnvironment: async () => host.setEnvironment(await environment()),
    async startAnew() {
      await stop();
      host = await start(false);
      isClosing = false;
      follow();
      const asking = [...waiting];
      waiting.clear();
      for (const contents of asking) handPort(contents);
    },
    close: stop,
  };
}

function watchWork(
  client: HostClient,
  { onJobs, onTransfers }: Pick<EngineHostOptions, 'onJobs' | 'onTransfers'>,
): void {
  const onEvents = (events: readonly HostEvent[]): void => {
    for (const event of events) {
      if (event.type === 'transfers') onTransfers(event.transfers);
      else if (event.type === 'savedJobs') onJobs(event.list);
    }
  };
  client.ask('transfers.watch', {}, { onEvents }).catch(() => {});
  client.ask('saved.watch', {}, { onEvents }).catch(() => {});
}

/** Ports of Electron and of Node are different objects that carry the same messages. */
function join(port: MessagePortMain, enginePort: HostPort): void {
  let isOpen = true;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    enginePort.close();
    port.close();
  };
  port.on('message', ({ data }) => {
    if (isOpen) enginePort.post(data);
  });
  port.on('close', end);
  enginePort.onMessage((message) => {
    if (isOpen) port.postMessage(message);
  });
  enginePort.onClose(() => {
    if (isOpen) endPort(port);
    end();
  });
  port.start();
}

function endPort(port: MessagePortMain): void {
  port.postMessage(PORT_END);
  port.close();
}
