/** Progress of one phase, coalesced: at most ten events a second, and one at the end. */
import type { Phase } from '../api/events.ts';
import type { Session } from './session.ts';

const EVERY_MS = 100;

export interface Progress {
  add(files: number, bytes: number): void;
  end(): void;
}

export function createProgress(
  session: Pick<Session, 'context' | 'clock'>,
  phase: Phase,
  totals: { readonly files?: number; readonly bytes?: number },
  requestsSoFar: () => number,
): Progress {
  const { context, clock } = session;
  let files = 0;
  let bytes = 0;
  let nextMs = 0;
  const tell = () =>
    context.emit({
      type: 'progress',
      phase,
      filesDone: files,
      ...(totals.files === undefined ? {} : { filesTotal: totals.files }),
      bytesDone: bytes,
      ...(totals.bytes === undefined ? {} : { bytesTotal: totals.bytes }),
      requests: requestsSoFar(),
    });
  context.emit({ type: 'phase', phase });
  return {
    add: (moreFiles, moreBytes) => {
      files += moreFiles;
      bytes += moreBytes;
      const nowMs = clock.monotonicMs();
      if (nowMs < nextMs) return;
      nextMs = nowMs + EVERY_MS;
      tell();
    },
    end: tell,
  };
}
