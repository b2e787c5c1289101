/**
 * Reads the console blocks of a Markdown page, and what a reader does not see: `<!-- run ... -->` comments
 * hold the commands that prepare a block, such as making its data. A block of JavaScript has the name of the
 * file that it becomes for the blocks after it.
 */
export interface ShownCommand {
  /** The name before the `$` prompt: which machine runs it. Empty on a page with one machine. */
  readonly machine: string;
  readonly command: string;
  /** The lines that the page shows below the command; none when the page does not show its output. */
  readonly shown: readonly string[];
  /** The line of the prompt, from 1. */
  readonly line: number;
}

export interface ConsoleBlock {
  readonly commands: readonly ShownCommand[];
  /** The word after `console no-run:`, for blocks that no test can run. */
  readonly whyNotRun?: string;
  readonly line: number;
}

export interface Fence {
  readonly language: string;
  readonly info: string;
  readonly lines: readonly string[];
  readonly line: number;
}

const PROMPT = /^(\w*)\$ (.*)$/;
const HIDDEN = /^<!-- run(?: (\w+))?$/;

/** Console blocks and hidden commands, in the order of the page. */
export function readBlocks(page: string): ConsoleBlock[] {
  return readFences(page)
    .filter(({ language }) => language === 'console' || language === 'js')
    .map(({ info, language, line, lines }) => {
      if (language === 'js') return { commands: [writeFile(info, lines, line)], line };
      const why = /^no-run: (.+)$/.exec(info)?.[1];
      return { commands: readCommands(lines, line), line, ...(why === undefined ? {} : { whyNotRun: why }) };
    });
}

/** Fenced blocks; a hidden comment counts as a console block without shown output. */
export function readFences(page: string): Fence[] {
  const fences: Fence[] = [];
  let open: { language: string; info: string; lines: string[]; line: number; end: string } | undefined;
  for (const [index, text] of page.split('\n').entries()) {
    if (open) {
      if (text === open.end) {
        fences.push(open);
        open = undefined;
      } else open.lines.push(open.end === '-->' ? `${open.info}$ ${text}` : text);
      continue;
    }
    const fence = /^```(\S*) ?(.*)$/.exec(text);
    const hidden = HIDDEN.exec(text);
    if (fence) open = { language: fence[1]!, info: fence[2]!, lines: [], line: index + 1, end: '```' };
    else if (hidden)
      open = { language: 'console', info: hidden[1] ?? '', lines: [], line: index + 1, end: '-->' };
  }
  if (open) throw new Error(`The block in line ${open.line} has no end.`);
  return fences;
}

function writeFile(name: string, lines: readonly string[], line: number): ShownCommand {
  if (!/^[\w-]+\.mjs$/.test(name)) throw new Error(`The block in line ${line} has no name of a file.`);
  return { machine: '', command: [`cat > ${name} <<'END'`, ...lines, 'END'].join('\n'), shown: [], line };
}

function readCommands(lines: readonly string[], fenceLine: number): ShownCommand[] {
  const commands: { machine: string; command: string; shown: string[]; line: number }[] = [];
  for (const [index, text] of lines.entries()) {
    const prompt = PROMPT.exec(text);
    const last = commands.at(-1);
    if (prompt)
      commands.push({ machine: prompt[1]!, command: prompt[2]!, shown: [], line: fenceLine + index + 1 });
    else if (!last) throw new Error(`The block in line ${fenceLine} does not begin with a command.`);
    else if (last.command.endsWith('\\') && last.shown.length === 0) last.command += `\n${text}`;
    else if (text !== '' || last.shown.length > 0) last.shown.push(text);
  }
  for (const { shown } of commands) while (shown.at(-1) === '') shown.pop();
  return commands;
}
