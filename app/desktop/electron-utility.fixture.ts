/**
 * The fake Electron's utility processes: real processes of Node, with the `process.parentPort` that Electron
 * gives them, and with its arguments.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { ForkOptions } from 'electron';
import type { FakeApp } from './electron-app.fixture.ts';

/** Messages of Electron come as events with `data`. The port keeps no process alive by itself. */
const PARENT_PORT = `data:text/javascript,${encodeURIComponent(`
  import { EventEmitter } from 'node:events';
  const port = new EventEmitter();
  process.on('message', (data) => port.emit('message', { data, ports: [] }));
  process.parentPort = port;
`)}`;

class FakeUtility extends EventEmitter {
  readonly stdout: EventEmitter | null;
  readonly stderr: EventEmitter | null;
  pid: number | undefined;
  readonly #child: ChildProcess;

  constructor(path: string, words: readonly string[], { env, stdio = 'inherit' }: ForkOptions) {
    super();
    const [stdin, stdout, stderr] = typeof stdio === 'string' ? ['ignore', stdio, stdio] : stdio;
    if (stdin !== 'ignore') throw new Error('stdin must be ignored');
    this.#child = fork(path, words, {
      env: env as NodeJS.ProcessEnv,
      execArgv: ['--import', PARENT_PORT],
      stdio: ['ignore', stdout as 'pipe', stderr as 'pipe', 'ipc'],
    });
    this.stdout = this.#child.stdout;
    this.stderr = this.#child.stderr;
    this.pid = this.#child.pid;
    this.#child.once('close', (code) => {
      this.pid = undefined;
      this.emit('exit', code ?? 1);
    });
  }

  postMessage(message: unknown): void {
    // As in Electron, a message to a process that has ended is lost, and no error.
    this.#child.send(message as string, () => {});
  }

  kill(): boolean {
    return this.#child.kill('SIGTERM');
  }
}

export function createUtilities(app: FakeApp) {
  const started: FakeUtility[] = [];
  const part = {
    fork(path: string, words: string[] = [], options: ForkOptions = {}): FakeUtility {
      if (!app.isReady()) throw new Error('utilityProcess cannot be created before app is ready.');
      const utility = new FakeUtility(path, words, options);
      started.push(utility);
      return utility;
    },
  };
  return { part, started };
}
