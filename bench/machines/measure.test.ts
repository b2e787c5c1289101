import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Command, createMeter, parseNotes } from './measure.ts';

const WAIT = { timeout: 120_000, interval: 20 };
const NEVER = new AbortController().signal;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-measure-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function script(code: string): Command {
  return { file: process.execPath, args: ['-e', code], environment: process.env };
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

describe('A measured process', () => {
  it('yields its output, and its resources where GNU time is installed', async () => {
    const meter = await createMeter(folder);
    const run = await meter.run(script('console.log("out"); console.error("err")'), NEVER);
    expect(run.output.split('\n').sort()).toEqual(['', 'err', 'out']);
    expect(run.wallMs).toBeGreaterThan(0);
    expect(run.cpuMs === null).toBe(!meter.seesResources);
    expect(run.peakRssBytes === null).toBe(!meter.seesResources);
  });

  it('shows its peak memory', async () => {
    const meter = await createMeter(folder);
    const small = await meter.run(script('0'), NEVER);
    const large = await meter.run(script('Buffer.alloc(100 * 1024 * 1024, 1)'), NEVER);
    const more = (large.peakRssBytes ?? 0) - (small.peakRssBytes ?? 0);
    expect(more).toBeGreaterThanOrEqual(meter.seesResources ? 90 * 1024 * 1024 : 0);
  });

  it('is an error with its exit code and last lines when it fails', async () => {
    const meter = await createMeter(folder);
    const failing = meter.run(script('console.error("no such bucket"); process.exit(3)'), NEVER);
    await expect(failing).rejects.toThrow(/ended with 3: no such bucket/);
  });

  it('is ended with all its children when it takes too long', async () => {
    const meter = await createMeter(folder);
    const marker = join(folder, 'process-id');
    const endless = `require('node:fs').writeFileSync(${JSON.stringify(marker)}, String(process.pid));
      setInterval(() => {}, 1000)`;
    // Until it has started before its time is over.
    for (let limitMs = 300; !existsSync(marker); limitMs *= 2)
      await expect(meter.run(script(endless), NEVER, limitMs)).rejects.toThrow('took over');
    await expect.poll(() => isAlive(Number(readFileSync(marker, 'utf8'))), WAIT).toBe(false);
  });

  it('is an error when it does not exist', async () => {
    const meter = await createMeter(folder);
    const missing: Command = { file: join(folder, 'nothing'), args: [], environment: process.env };
    await expect(meter.run(missing, NEVER)).rejects.toThrow();
  });

  it('ends when the user stops the bench', async () => {
    const meter = await createMeter(folder);
    const stop = new AbortController();
    const running = meter.run(script('setInterval(() => {}, 1000)'), stop.signal);
    void pause(300).then(() => stop.abort());
    await expect(running).rejects.toThrow();
    await expect(meter.run(script('0'), stop.signal)).rejects.toThrow();
  });
});

describe('The output of GNU time', () => {
  it('has seconds of user and system time, and KiB', () => {
    expect(parseNotes('1.25 0.50 2048\n')).toEqual({ cpuMs: 1750, peakRssBytes: 2048 * 1024 });
  });

  it('comes last, after a remark about the exit status', () => {
    expect(parseNotes('Command exited with non-zero status 3\n0.01 0.02 10\n').cpuMs).toBe(30);
  });

  it('is an error in any other form', () => {
    expect(() => parseNotes('')).toThrow();
    expect(() => parseNotes('real 1.0')).toThrow();
  });
});
