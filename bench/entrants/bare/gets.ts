/**
 * A client that only downloads objects into files: it sends prepared requests over raw sockets and writes the
 * bytes unchecked as they arrive. Runs in its own process:
 *
 *     node gets.ts PLAN CONNECTIONS
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface GetPlan {
  readonly host: string;
  readonly port: number;
  readonly gets: readonly { readonly request: string; readonly file: string }[];
}

/** Larger buffers make no difference. */
const BUFFER_BYTES = 1024 * 1024;
const HEAD_END = '\r\n\r\n';

export function writeGetPlan(file: string, plan: GetPlan): void {
  writeFileSync(file, JSON.stringify(plan));
}

/** @throws Error at the first answer that is not 200, or that ends early. */
async function runGets(file: string, connections: number): Promise<void> {
  const plan: GetPlan = JSON.parse(readFileSync(file, 'utf8'));
  const left = plan.gets.values();
  const lane = async () => {
    for (const get of left) await getInto(plan, get);
  };
  await Promise.all(Array.from({ length: connections }, lane));
}

function getInto({ host, port }: GetPlan, { file, request }: GetPlan['gets'][number]): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  const to = openSync(file, 'w');
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let leftBytes: number | undefined;
  return new Promise<void>((resolve, reject) => {
    const take = (sizeBytes: number): boolean => {
      let start = 0;
      if (leftBytes === undefined) {
        // On one machine a head arrives in one piece.
        const end = buffer.subarray(0, sizeBytes).indexOf(HEAD_END);
        const head = buffer.toString('latin1', 0, end);
        const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
        if (end < 0 || !head.startsWith('HTTP/1.1 200 ') || length === undefined)
          throw new Error(`the server answered ${head}`);
        leftBytes = Number(length);
        start = end + HEAD_END.length;
      }
      if (sizeBytes > start) writeSync(to, buffer, start, sizeBytes - start);
      leftBytes -= sizeBytes - start;
      if (leftBytes === 0) socket.destroy();
      return true;
    };
    const callback = (sizeBytes: number): boolean => {
      try {
        return take(sizeBytes);
      } catch (error) {
        socket.destroy(error as Error);
        return false;
      }
    };
    const socket = connect({ host, port, noDelay: true, onread: { buffer, callback } });
    socket.once('error', reject);
    socket.once('close', () => {
      if (leftBytes === 0) resolve();
      else reject(new Error('the server closed the connection'));
    });
    socket.write(request);
  }).finally(() => closeSync(to));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await runGets(process.argv[2] ?? '', Number(process.argv[3]));
