/** Asks a person at the terminal. Questions go to stderr, because a program may read stdout. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { isTerminal, writeLine, writeQuestion } from './output/terminal.ts';

/** True if a person can see and answer a question. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && isTerminal('stderr');
}

/** Only "yes" or "y" means yes. The end of the input means no. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  // Without readline's terminal mode, Ctrl-C stays a signal, which `stop-signals.ts` handles.
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    writeQuestion(question);
    const ended = once(lines, 'close', { signal }).then(() => ['']);
    const [answer] = (await Promise.race([once(lines, 'line', { signal }), ended])) as [string];
    return /^\s*y(?:es)?\s*$/i.test(answer);
  } finally {
    lines.close();
  }
}

const SECRET_BYTES_MAX = 64 * 1024;

/** Reads one line: from the terminal without showing it, otherwise from the piped input. */
export async function readSecret(question: string, signal: AbortSignal): Promise<string> {
  const stdin = process.stdin;
  const isAsked = stdin.isTTY === true;
  if (isAsked) {
    // Before the question is printed, or an answer typed at once would show.
    stdin.setRawMode(true);
    writeQuestion(question);
  }
  const stop = () => void stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  let text = '';
  try {
    stdin.setEncoding('utf8');
    for await (const piece of stdin as AsyncIterable<string>) {
      text = typed(text, piece, isAsked);
      if (/[\r\n]/.test(text) || text.length > SECRET_BYTES_MAX) break;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    if (isAsked) {
      if (!stdin.destroyed) stdin.setRawMode(false);
      writeLine('stderr', '');
    }
  }
  signal.throwIfAborted();
  return text.split(/[\r\n]/, 1)[0]!.trim();
}

/** In raw mode the terminal leaves editing and Ctrl-C to the program. */
function typed(before: string, piece: string, isRaw: boolean): string {
  if (!isRaw) return before + piece;
  let text = before;
  for (const character of piece) {
    if (character === '\x03') process.kill(process.pid, 'SIGINT');
    else if (character === '\x04') return `${text}\n`;
    else if (character === '\x7f' || character === '\b') text = text.slice(0, -1);
    else text += character;
  }
  return text;
}
