/** A thread that computes digests: one piece of one digest a message, answered in order. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

export interface DigestRequest {
  readonly id: number;
  readonly algorithm: 'md5' | 'sha256';
  /** The next ones; none at the end. */
  readonly bytes?: Uint8Array;
}

/** The digest at the end, else that the bytes are not needed any more. */
export type DigestAnswer = Uint8Array | 'taken';

const port = parentPort!;
const running = new Map<number, Hash>();

port.on('message', (message: DigestRequest | 'end') => {
  if (message === 'end') port.close();
  else port.postMessage(answer(message));
});

function answer({ algorithm, bytes, id }: DigestRequest): DigestAnswer {
  const hash = running.get(id) ?? createHash(algorithm);
  if (bytes) {
    hash.update(bytes);
    running.set(id, hash);
    return 'taken';
  }
  running.delete(id);
  return hash.digest();
}
