/** The command tree as plain data, for the completion scripts. */
import type { Command, Option } from 'commander';

export interface CompletionNode {
  /** The words that lead here without the program's name, such as `remote add`; empty for the program. */
  readonly path: string;
  readonly description: string;
  readonly options: readonly CompletionOption[];
  /** Fixed choices of the first argument. */
  readonly choices: readonly string[];
  readonly children: readonly CompletionNode[];
}

export interface CompletionOption {
  readonly short?: string;
  readonly long?: string;
  readonly description: string;
  readonly value: 'none' | 'optional' | 'required';
  readonly choices: readonly string[];
}

export function buildCompletionTree(program: Command): CompletionNode {
  const globals = program.options.filter((option) => !option.hidden && option.long !== '--version');
  return buildNode(program, '', globals);
}

/** All nodes: the program first, each parent before its children. */
export function flattenTree(node: CompletionNode): CompletionNode[] {
  return [node, ...node.children.flatMap(flattenTree)];
}

export function lastWord(path: string): string {
  return path.slice(path.lastIndexOf(' ') + 1);
}

export function optionNames(option: CompletionOption): string[] {
  return [option.short, option.long].filter((name) => name !== undefined);
}

/** Global options are hidden in each command's help. Completion offers them all the same. */
function buildNode(command: Command, path: string, globals: readonly Option[]): CompletionNode {
  const own = command.options.filter((option) => !option.hidden);
  const names = new Set(own.map((option) => option.long ?? option.short));
  const inherited = globals.filter((option) => !names.has(option.long ?? option.short));
  const help = {
    short: '-h',
    long: '--help',
    description: 'print help',
    value: 'none',
    choices: [],
  } as const;
  return {
    path,
    description: command.summary() || command.description(),
    options: [...[...own, ...inherited].map(toCompletionOption), help],
    choices: command.registeredArguments[0]?.argChoices ?? [],
    children: command.commands.map((child) => buildNode(child, `${path} ${child.name()}`.trim(), globals)),
  };
}

function toCompletionOption(option: Option): CompletionOption {
  return {
    ...(option.short ? { short: option.short } : {}),
    ...(option.long ? { long: option.long } : {}),
    description: option.description,
    value: option.required ? 'required' : option.optional ? 'optional' : 'none',
    choices: option.argChoices ?? [],
  };
}
