/**
 * Chooses the number of threads that read small files: one for each core while they compute. Where they
 * mostly wait, for a cold disk or a file server, the number doubles as long as that reads more.
 */
import { availableParallelism } from 'node:os';

export interface ReadingGauge {
  /** The useful number of threads. Never decreases. */
  readonly threads: number;
  /**
   * Reports a batch that was read. `isFull`: every thread has more to do, so the threads are the bottleneck.
   */
  read(files: number, isFull: boolean): void;
}

export interface GaugeOptions {
  /** The initial number. */
  readonly threads: number;
  /** CPU time of the whole process, all threads included. */
  readonly cpuMs: () => number;
  readonly nowMs: () => number;
  readonly cores?: number;
}

const THREADS_MAX = 16;
/** Long enough for threads to start within it. */
const WINDOW_MS = 300;
/** Below this share of the cores' capacity, the threads wait. */
const WAITING_SHARE = 0.5;
/** The gain that a doubling must bring to be repeated. */
const GAIN_MIN = 1.2;

interface Window {
  readonly startMs: number;
  readonly startCpuMs: number;
  files: number;
}

export function createReadingGauge(options: GaugeOptions): ReadingGauge {
  const { cores = availableParallelism(), cpuMs, nowMs } = options;
  let threads = options.threads;
  let window: Window | undefined;
  let lastRate: number | undefined;
  let isSettled = false;

  const close = ({ files, startCpuMs, startMs }: Window, endMs: number) => {
    const elapsedMs = endMs - startMs;
    const rate = files / elapsedMs;
    const busyShare = (cpuMs() - startCpuMs) / (elapsedMs * Math.min(cores, threads));
    const hasPaid = lastRate === undefined || rate >= lastRate * GAIN_MIN;
    isSettled = !hasPaid || threads >= THREADS_MAX;
    if (isSettled || busyShare >= WAITING_SHARE) return;
    lastRate = rate;
    threads = Math.min(THREADS_MAX, 2 * threads);
  };

  return {
    get threads() {
      return threads;
    },
    read(files, isFull) {
      if (isSettled) return;
      if (!isFull) {
        window = undefined;
        return;
      }
      const now = nowMs();
      window ??= { startMs: now, startCpuMs: cpuMs(), files: -files };
      window.files += files;
      if (now - window.startMs < WINDOW_MS) return;
      close(window, now);
      window = undefined;
    },
  };
}

/** The CPU time of this process. */
export function processCpuMs(): number {
  const { system, user } = process.cpuUsage();
  return (system + user) / 1000;
}
