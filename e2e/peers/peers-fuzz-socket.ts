/** Sends requests as bytes over one raw connection, pipelined, and reads their answers in order. */
import { connect } from 'node:net';
import type { FuzzRequest } from './peers-fuzz-requests.ts';

export interface RawAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface Exchange {
  readonly request: FuzzRequest;
  readonly answer: RawAnswer;
}

const UNANSWERED_MAX_MS = 20_000;

/**
 * Sends all at once. Resolves when each is answered or the server has closed the connection; requests behind
 * a close have no answer.
 */
export function converse(port: number, requests: readonly FuzzRequest[]): Promise<readonly Exchange[]> {
  return new Promise((resolve, reject) => {
    const answers: Exchange[] = [];
    let pending: Buffer = Buffer.alloc(0);
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    const take = (isEnded: boolean) => {
      for (let request = requests[answers.length]; request; request = requests[answers.length]) {
        const parsed = parseAnswer(pending, { isHead: request.isHead, isEnded });
        if (!parsed) return;
        pending = pending.subarray(parsed.usedBytes);
        if (parsed.answer.status >= 200) answers.push({ request, answer: parsed.answer });
      }
    };
    socket.on('connect', () => {
      socket.write(Buffer.concat(requests.map(({ bytes }) => bytes)));
      // The rest of a cut request never comes.
      if (requests.at(-1)!.isCut) socket.end();
    });
    socket.on('data', (piece) => {
      pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
      try {
        take(false);
      } catch (error) {
        reject(error);
        socket.destroy();
      }
      if (answers.length === requests.length) socket.destroy();
    });
    // Neither an answer nor the end has come. The test fails and shows the requests.
    socket.setTimeout(UNANSWERED_MAX_MS, () => {
      const asked = requests[answers.length]!.bytes.toString('latin1');
      reject(new Error(`The server never answered: ${JSON.stringify(asked.slice(0, 900))}`));
      socket.destroy();
    });
    // The server closed while it still received, which resets the connection.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(error);
    });
    socket.on('close', () => {
      try {
        take(true);
        resolve(answers);
      } catch (error) {
        reject(error);
      }
    });
  });
}

function parseAnswer(
  bytes: Buffer,
  { isEnded, isHead }: { readonly isHead: boolean; readonly isEnded: boolean },
): { readonly answer: RawAnswer; readonly usedBytes: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new Error(`This is not an HTTP answer: ${head.slice(0, 200)}`);
  const start = headEnd + 4;
  const whole = (end: number, body: Buffer) => ({ answer: { status, body }, usedBytes: end });
  if (isHead || status < 200 || status === 304) return whole(start, Buffer.alloc(0));
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length !== undefined) {
    const end = start + Number(length);
    return bytes.length < end ? undefined : whole(end, bytes.subarray(start, end));
  }
  if (/^transfer-encoding: chunked$/im.test(head)) {
    const end = bytes.indexOf('0\r\n\r\n', start);
    return end < 0 ? undefined : whole(end + 5, bytes.subarray(start, end));
  }
  return isEnded ? whole(bytes.length, bytes.subarray(start)) : undefined;
}
