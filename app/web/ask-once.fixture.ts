/** For tests: asks the engine behind `dray ui` one question, as its window does. */
import WebSocket from 'ws';
import type { HostMessage, HostRequestName } from '../../engine/api/host.ts';
import { protocolsOf } from '../../engine/api/window/window-key.ts';

export interface OpenedLink {
  readonly origin: string;
  readonly cookie: string;
  readonly key: string;
}

/** Opens a link of `dray ui`, as a browser started by another program does. */
export async function openLink(link: string): Promise<OpenedLink> {
  const answer = await fetch(link, { redirect: 'manual' });
  const [, key = ''] = /#key=([\w-]+)/.exec(await answer.text()) ?? [];
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { origin: new URL(link).origin, cookie, key };
}

export function askOnce(
  { cookie, key, origin }: OpenedLink,
  { input = {}, name = 'home.list' }: { readonly name?: HostRequestName; readonly input?: object } = {},
): Promise<HostMessage> {
  const url = `${origin.replace('http', 'ws')}/host`;
  const socket = new WebSocket(url, [...protocolsOf(key)], { origin, headers: { cookie } });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ do: 'ask', id: 1, name, input })));
    socket.on('message', (data) => {
      resolve(JSON.parse(String(data)));
      socket.close();
    });
  });
}
