/** A real Temporal server for a test file: the development server of Temporal's own command. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { roomyFolder } from './memory-folder.ts';
import { freePort, type RunningProcess, startProcess, toolPath, waitUntilReady } from './tools.ts';

export interface TemporalServer extends AsyncDisposable {
  /** `HOST:PORT` of its frontend. */
  readonly address: string;
  /** The address of the running server. */
  processId(): number | undefined;
  /** Everything that it has stored, as bytes. */
  stored(): Promise<Buffer>;
  /** Ends the process as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again, with the state that it had. */
  start(): Promise<void>;
}

export async function startTemporal(): Promise<TemporalServer> {
  const path = await toolPath('temporal');
  const home = await mkdtemp(join(await roomyFolder(), 'dray-temporal-'));
  const [port, httpPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const ports = ['--port', `${port}`, '--http-port', `${httpPort}`, '--metrics-port', `${metricsPort}`];
  const database = ['--db-filename', join(home, 'temporal.db')];
  let running: RunningProcess | undefined;
  const start = async () => {
    const args = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'error'];
    const environment = { PATH: process.env.PATH, HOME: home };
    const started = startProcess(path, [...args, ...ports, ...database], environment);
    running = started;
    // It prints its addresses once it serves.
    await waitUntilReady(started, async () => started.output().includes('Server:'));
  };
  await start();
  return {
    address: `127.0.0.1:${port}`,
    processId: () => running?.processId,
    start,
    async stored() {
      const names = (await readdir(home)).filter((name) => name.startsWith('temporal.db'));
      return Buffer.concat(await Promise.all(names.map((name) => readFile(join(home, name)))));
    },
    async kill() {
      if (running?.processId !== undefined) process.kill(running.processId, 'SIGKILL');
      await running?.stop();
    },
    async [Symbol.asyncDispose]() {
      await running?.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
