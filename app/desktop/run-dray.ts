/** Runs `dray` for saved jobs in Electron's utility processes. */
import { type RunDray, STOP_GRACE_MS, tailOf } from '../../engine/jobs/saved/dray-process.ts';
import { STOP_MESSAGE } from './channels.ts';
import type { Electron } from './electron-parts.ts';

/** @param path The module of `job-process.ts`. */
export function drayUtility({ utilityProcess }: Pick<Electron, 'utilityProcess'>, path: string): RunDray {
  return ({ environment, signal, takesOutput, words }) => {
    const child = utilityProcess.fork(path, [...words], {
      env: { ...environment },
      stdio: ['ignore', takesOutput ? 'pipe' : 'ignore', 'ignore'],
      serviceName: 'Dray job',
    });
    const output = tailOf(child.stdout);
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      child.postMessage(STOP_MESSAGE);
      timer = setTimeout(() => child.kill(), STOP_GRACE_MS);
    };
    // Electron delivers messages that are posted before the process has started.
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const ended = Promise.withResolvers<{ readonly exitCode: number; readonly output: string }>();
    child.once('exit', (exitCode) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      ended.resolve({ exitCode, output: output() });
    });
    return ended.promise;
  };
}
