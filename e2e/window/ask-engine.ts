/**
 * Sends a request to the engine from within the page, over the page's own connection, to prepare what a test
 * needs.
 */
import type { Page } from 'playwright';
import type { AnswerOf, HostRequestName, InputOf } from '../../engine/api/host.ts';

export async function askEngine<N extends HostRequestName>(
  page: Page,
  name: N,
  input: InputOf<N>,
): Promise<AnswerOf<N>> {
  const answer = await page.evaluate(
    ({ input, name }) =>
      new Promise<unknown>((resolve, reject) => {
        const protocols = ['dray', `dray-key.${sessionStorage.getItem('dray-key')}`];
        const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/host`, protocols);
        socket.onopen = () => socket.send(JSON.stringify({ do: 'ask', id: 1, name, input }));
        socket.onclose = () => reject(new Error('The connection closed before the answer.'));
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          if (message.is === 'failed') reject(new Error(message.error.message));
          if (message.is === 'answer') resolve(message.answer);
          if (message.is !== 'events') socket.close();
        };
      }),
    { input: input as unknown, name },
  );
  return answer as AnswerOf<N>;
}
