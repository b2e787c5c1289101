/**
 * The only module that writes to the process's standard streams (`.ci/terminal-rule.ts` enforces it). Lines
 * for people pass through `toTerminalLine`: one call writes one line without foreign control characters.
 * Output for programs is written unchanged.
 */
import { once } from 'node:events';
import { fstatSync, writeSync } from 'node:fs';
import { showColors } from './colors.ts';
import { toTerminalLine } from './terminal-text.ts';

export type StreamName = 'stdout' | 'stderr';

export function isTerminal(stream: StreamName): boolean {
  return process[stream].isTTY === true;
}

/** Some terminals report 0 when they do not know their size. */
export function sizeOfStderr(): { readonly columns: number; readonly rows: number } {
  return { columns: process.stderr.columns || 80, rows: process.stderr.rows || 24 };
}

export function onStderrResize(listener: () => void): () => void {
  process.stderr.on('resize', listener);
  return () => process.stderr.off('resize', listener);
}

/** A line for people, with its line break. */
export function formatLine(text: string): string {
  return `${showColors(toTerminalLine(text))}\n`;
}

export function writeLine(stream: StreamName, text: string): void {
  process[stream].write(formatLine(text));
}

/** On stderr. The user types the answer on the same line. */
export function writeQuestion(text: string): void {
  process.stderr.write(toTerminalLine(text));
}

/**
 * Draws lines that are redrawn later, in one write. The cursor stays at their start, also when the terminal
 * gets narrower and wraps them, so everything after it can be cleared.
 */
export function writeBlock(lines: readonly string[]): void {
  const shown = lines.map((line) => showColors(toTerminalLine(line)));
  const up = lines.length > 1 ? `\x1b[${lines.length - 1}A` : '';
  process.stderr.write(`\r${shown.join('\x1b[K\n')}\x1b[J${up}\r`);
}

export function clearBlock(): void {
  process.stderr.write('\r\x1b[J');
}

/** For programs, unchanged: JSON lines, completion scripts, help, and lines that `formatLine` made. */
export function writeAsIs(text: string): void {
  process.stdout.write(text);
}

/**
 * Writes content of files and objects unchanged. Waits while the reader is slower. If the reader goes away,
 * the process ends (`run.ts`).
 */
export async function writeContent(chunk: Uint8Array): Promise<void> {
  // The caller reuses the memory as soon as this resolves, and the stream may hold a chunk until then.
  if (process.stdout.write(Buffer.from(chunk))) return;
  await once(process.stdout, 'drain');
}

/** Undefined while the reader of stdout keeps up; otherwise resolves once it does. */
export function drainedOutput(): Promise<void> | undefined {
  return process.stdout.writableNeedDrain ? once(process.stdout, 'drain').then(() => {}) : undefined;
}

/** Resolves when the system has taken every line. */
export async function writtenOutput(): Promise<void> {
  const handedOver = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => {
      stream.write('', () => resolve());
    });
  await Promise.all([handedOver(process.stdout), handedOver(process.stderr)]);
}

export function onStreamError(listener: (stream: StreamName, error: NodeJS.ErrnoException) => void): void {
  for (const name of ['stdout', 'stderr'] as const)
    process[name].on('error', (error) => listener(name, error));
}

/** Writes a line synchronously, for a process that ends right after it. */
export function writeLineAtOnce(text: string): void {
  try {
    writeSync(process.stderr.fd, formatLine(text));
  } catch {
    // Nobody is left to read it.
  }
}

/**
 * Makes sure that standard output to a file is written in full, or fails. Node's own stream treats a short
 * write, as on a full disk, as complete (nodejs/node, `lib/internal/fs/sync_write_stream.js`). Called before
 * anything is written.
 */
export function writeOutputWhole(): void {
  const { stdout } = process;
  if (!isFile(stdout.fd)) return;
  stdout._write = (chunk: Uint8Array, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stdout.fd, chunk, at);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
