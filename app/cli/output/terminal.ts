/**
 * The only module that writes to the process's standard streams (`.ci/terminal-rule.ts` enforces it). Lines for people pass through
 * `toTerminalLine`: one call, one line, without a control character that is not ours. Output for programs goes as it is.
 */
import { once } from 'node:events';
import { fstatSync, writeSync } from 'node:fs';
import { showColors } from './colors.ts';
import { toTerminalLine } from './terminal-text.ts';

export type StreamName = 'stdout' | 'stderr';

/** Takes the progress line off the screen. */
export const CLEAR_LINE = '\r\x1b[K';

export function isTerminal(stream: StreamName): boolean {
  return process[stream].isTTY === true;
}

/** Some terminals say 0 when they do not know. */
export function columnsOfStderr(): number {
  return process.stderr.columns || 80;
}

/** A line for people, with its end. */
export function formatLine(text: string): string {
  return `${showColors(toTerminalLine(text))}\n`;
}

export function writeLine(stream: StreamName, text: string): void {
  process[stream].write(formatLine(text));
}

/** On stderr; the answer is typed on the same line. */
export function writeQuestion(text: string): void {
  process.stderr.write(toTerminalLine(text));
}

/** @param text A line that is drawn over (`CLEAR_LINE` before it), or one that ends in a line break. */
export function writeProgress(text: string): void {
  const start = text.startsWith(CLEAR_LINE) ? CLEAR_LINE : '';
  const end = text.endsWith('\n') ? '\n' : '';
  process.stderr.write(start + toTerminalLine(text.slice(start.length, text.length - end.length)) + end);
}

/** For programs, as it is: JSON lines, completion scripts, help, and lines that `formatLine` made. */
export function writeAsIs(text: string): void {
  process.stdout.write(text);
}

/** Content of files and objects, as it is. Waits while the reader is slower. A reader that goes away ends the process (`run.ts`). */
export async function writeContent(chunk: Uint8Array): Promise<void> {
  // The memory is used again as soon as this resolves, and the stream may hold a chunk back until then.
  if (process.stdout.write(Buffer.from(chunk))) return;
  await once(process.stdout, 'drain');
}

/** Undefined while the reader of stdout keeps up; else resolves once it does. */
export function drainedOutput(): Promise<void> | undefined {
  return process.stdout.writableNeedDrain ? once(process.stdout, 'drain').then(() => {}) : undefined;
}

/** Resolves when every line was handed to the system. */
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

/** Writes a line at once, for a process that ends right after it. */
export function writeLineAtOnce(text: string): void {
  try {
    writeSync(process.stderr.fd, formatLine(text));
  } catch {
    // Nobody is left to read it.
  }
}

/**
 * Makes standard output that is a file be written whole, or fail. Node's own stream takes a write that ended early, at the end of a disk, for
 * a whole one (nodejs/node, `lib/internal/fs/sync_write_stream.js`). Called before anything is written.
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
