/**
 * For tests of the host: a real host with a user's folder of its own, and a client that talks to it over a
 * MessageChannel.
 */
import { mkdirSync } from 'node:fs';
import { MessageChannel } from 'node:worker_threads';
import type { Transfer } from '../api/host/transfers.ts';
import type { HostEvent } from '../api/host.ts';
import { connectHost, type HostClient } from '../api/window/host-client.ts';
import { fromMessagePort } from '../api/window/host-port.ts';
import { initWorkspace } from '../jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../jobs/session/job.fixture.ts';
import { createHost, type HostOptions, type HostState } from './host-state.ts';
import { servePort } from './port/serve-port.ts';

export interface HostFixture extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly environment: Readonly<Record<string, string>>;
  readonly host: HostState;
  readonly client: HostClient;
  /** One more window on the same host. */
  connect(): HostClient;
  /** Another host on the same user's folder, after the first one has ended. */
  reopen(): HostFixture;
  /** A workspace with a `file:` remote beside it. */
  workspace(name?: string): Promise<string>;
}

export function createHostFixture(sandbox = createSandbox(), more: Partial<HostOptions> = {}): HostFixture {
  const environment = {
    HOME: sandbox.folder,
    DRAY_AUTHOR: 'tester',
    DRAY_CONFIG: sandbox.path('config', 'config.json'),
  };
  const host = createHost({ environment, ...more });
  const clients: HostClient[] = [];
  const connect = () => {
    const { port1, port2 } = new MessageChannel();
    servePort(fromMessagePort(port2), host);
    const client = connectHost(fromMessagePort(port1));
    clients.push(client);
    return client;
  };
  return {
    sandbox,
    environment,
    host,
    client: connect(),
    connect,
    reopen: () => createHostFixture(sandbox, more),
    async workspace(name = 'work') {
      const root = sandbox.path(name);
      mkdirSync(root);
      await initWorkspace(testContext(root), { remoteUrl: sandbox.path(`${name}-remote`) });
      return root;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      await host.close();
      sandbox[Symbol.dispose]();
    },
  };
}

/** Watches transfers until the one with this id is in one of these states. */
export async function transferIn(
  client: HostClient,
  id: string,
  states: readonly Transfer['state'][],
): Promise<Transfer> {
  const stopping = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Transfer>();
  const onEvents = (events: readonly HostEvent[]) => {
    for (const event of events) {
      if (event.type !== 'transfers') continue;
      const found = event.transfers.find((transfer) => transfer.id === id);
      if (found && states.includes(found.state)) resolve(found);
    }
  };
  const watching = client.ask('transfers.watch', {}, { signal: stopping.signal, onEvents });
  watching.catch(() => {});
  try {
    return await promise;
  } finally {
    stopping.abort();
  }
}
