/**
 * A client that only uploads small objects: it sends prepared requests over raw sockets, one at a time on
 * each. Runs in its own process:
 *
 *     node puts.ts PLAN CONNECTIONS
 */
import { readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { pathToFileURL } from 'node:url';

/** All requests in one file; the plan beside it says where each ends. */
export interface PutPlan {
  readonly host: string;
  readonly port: number;
  /** Where each request ends, in bytes from the start of the file. */
  readonly ends: readonly number[];
}

const HEAD_END = '\r\n\r\n';

export async function writePlan(
  file: string,
  server: Pick<PutPlan, 'host' | 'port'>,
  requests: readonly Buffer[],
): Promise<void> {
  let end = 0;
  const ends = requests.map((request) => {
    end += request.length;
    return end;
  });
  await writeFile(file, Buffer.concat(requests));
  await writeFile(`${file}.json`, JSON.stringify({ ...server, ends } satisfies PutPlan));
}

/** @throws Error at the first answer that is not 200. */
export async function runPlan(file: string, connections: number): Promise<void> {
  const { host, port, ends }: PutPlan = JSON.parse(await readFile(`${file}.json`, 'utf8'));
  const bytes = await readFile(file);
  let next = 0;
  const takeRequest = (): Buffer | undefined => {
    if (next >= ends.length) return undefined;
    const request = bytes.subarray(next === 0 ? 0 : ends[next - 1], ends[next]);
    next += 1;
    return request;
  };
  const sockets = Array.from({ length: Math.min(connections, ends.length) }, () =>
    connect({ host, port, noDelay: true }),
  );
  try {
    await Promise.all(sockets.map((socket) => putInTurn(socket, takeRequest)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** An answer to a PUT has no body, so it ends with its head. */
function putInTurn(socket: Socket, takeRequest: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const sendNext = () => {
      const request = takeRequest();
      if (request) socket.write(request);
      else resolve();
    };
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      if (!answer.includes(HEAD_END)) return;
      if (!/^HTTP\/1\.1 200 /.test(answer)) return reject(new Error(`the server answered ${answer}`));
      answer = '';
      sendNext();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed the connection')));
    socket.once('connect', sendNext);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await runPlan(process.argv[2] ?? '', Number(process.argv[3]));
