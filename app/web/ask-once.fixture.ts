/** For tests: one question to the engine behind `dray ui`, as its window asks. */
import WebSocket from 'ws';
import type { HostMessage, HostRequestName } from '../../engine/api/host.ts';

/** @param cookie What the link of `dray ui` gave. */
export function askOnce(
  origin: string,
  cookie: string,
  { input = {}, name = 'home.list' }: { readonly name?: HostRequestName; readonly input?: object } = {},
): Promise<HostMessage> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/host`, { origin, headers: { cookie } });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ do: 'ask', id: 1, name, input })));
    socket.on('message', (data) => {
      resolve(JSON.parse(String(data)));
      socket.close();
    });
  });
}
