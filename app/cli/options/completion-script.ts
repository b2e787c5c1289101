/**
 * Completion scripts for bash, zsh and fish. They are generated from the command tree, so they always match
 * it.
 */
import type { Command } from 'commander';
import {
  buildCompletionTree,
  type CompletionNode,
  type CompletionOption,
  flattenTree,
  lastWord,
  optionNames,
} from './completion-tree.ts';

export function formatCompletionScript(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  const tree = buildCompletionTree(program);
  switch (shell) {
    case 'bash':
      return formatBash(tree);
    case 'zsh':
      return formatZsh(tree);
    case 'fish':
      return formatFish(tree);
  }
}

function formatBash(tree: CompletionNode): string {
  return `# bash completion for dray. Load it with: source <(dray completion bash)
_dray() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" at="" index choices=""
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      ${valueOptionPattern(tree)}) ((index++)); continue ;;
    esac
    case "$at:\${COMP_WORDS[index]}" in
${stepCases(tree)}
    esac
  done
  case "$at:$previous" in
${choiceCases(tree, (choices) => `choices="${choices}"`)}
    *:-C) COMPREPLY=($(compgen -d -- "$word")); return ;;
    ${valueOptionPattern(tree, '*:')}) COMPREPLY=(); return ;;
  esac
  if [[ -z "$choices" ]]; then
    case "$at" in
${flattenTree(tree)
  .map((node) => `      "${node.path}") choices="${wordsOf(node).join(' ')}" ;;`)
  .join('\n')}
    esac
  fi
  if [[ "$word" != -* ]]; then
    choices=" $choices"
    choices="\${choices// -+([^ ])/}"
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
shopt -s extglob
complete -o default -F _dray dray
`;
}

function formatZsh(tree: CompletionNode): string {
  return `#compdef dray
# zsh completion for dray. Save it as _dray in a folder of your fpath, or load it with: source <(dray completion zsh)
_dray() {
  local at="" index word="\${words[CURRENT]}" previous="\${words[CURRENT-1]}"
  local -a offered
  for ((index = 2; index < CURRENT; index++)); do
    case "\${words[index]}" in
      ${valueOptionPattern(tree)}) ((index++)); continue ;;
    esac
    case "$at:\${words[index]}" in
${stepCases(tree)}
    esac
  done
  case "$at:$previous" in
${choiceCases(tree, (choices) => `compadd -- ${choices}; return`)}
    *:-C) _files -/; return ;;
    ${valueOptionPattern(tree, '*:')}) _files; return ;;
  esac
  if [[ "$word" == -* ]]; then
    case "$at" in
${flattenTree(tree)
  .map(
    (node) =>
      `      "${node.path}") offered=(${node.options.flatMap(describeOption).map(quote).join(' ')}) ;;`,
  )
  .join('\n')}
    esac
    _describe -o option offered
    return
  fi
  case "$at" in
${flattenTree(tree)
  .filter((node) => node.children.length + node.choices.length > 0)
  .map((node) => `    "${node.path}") offered=(${describeWords(node).map(quote).join(' ')}) ;;`)
  .join('\n')}
    *) _files; return ;;
  esac
  _describe command offered
}
if [[ "$funcstack[1]" == _dray ]]; then _dray "$@"; else compdef _dray dray; fi
`;
}

function formatFish(tree: CompletionNode): string {
  const lines = flattenTree(tree).flatMap((node) => {
    const condition = `-n ${quote(fishCondition(node))}`;
    return [
      ...node.children.map(
        (child) =>
          `complete -c dray ${condition} -f -a ${lastWord(child.path)} -d ${quote(child.description)}`,
      ),
      ...node.choices.map((choice) => `complete -c dray ${condition} -f -a ${choice}`),
      ...node.options.map(
        (option) => `complete -c dray ${condition} ${fishOption(option)} -d ${quote(option.description)}`,
      ),
    ];
  });
  return `# fish completion for dray. Save it as ~/.config/fish/completions/dray.fish\n${lines.join('\n')}\n`;
}

/** Holds where a node's own words apply: after its path, and before any of its children. */
function fishCondition(node: CompletionNode): string {
  const typed =
    node.path === '' ? [] : node.path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const children = node.children.map((child) => lastWord(child.path));
  if (children.length > 0) typed.push(`not __fish_seen_subcommand_from ${children.join(' ')}`);
  return typed.join('; and ');
}

function fishOption(option: CompletionOption): string {
  const parts: string[] = [];
  if (option.short) parts.push(`-s ${option.short.slice(1)}`);
  if (option.long) parts.push(`-l ${option.long.slice(2)}`);
  if (option.choices.length > 0) parts.push(`-x -a ${quote(option.choices.join(' '))}`);
  else if (option.value === 'required') parts.push('-r');
  return parts.join(' ');
}

/** Options that take the next word as their value, so that word is no command. */
function valueOptionPattern(tree: CompletionNode, prefix = ''): string {
  const names = flattenTree(tree)
    .flatMap((node) => node.options)
    .filter((option) => option.value === 'required')
    .flatMap(optionNames);
  return [...new Set(names)].map((name) => `${prefix}${name}`).join('|');
}

/** Moves `at` after a word that names a command. bash and zsh both read these lines. */
function stepCases(tree: CompletionNode): string {
  const steps = flattenTree(tree).flatMap((node) =>
    node.children.map((child) => [node.path, child.path] as const),
  );
  return steps.map(([from, to]) => `      "${from}:${lastWord(to)}") at="${to}" ;;`).join('\n');
}

function choiceCases(tree: CompletionNode, act: (choices: string) => string): string {
  const lines = flattenTree(tree).flatMap((node) =>
    node.options
      .filter((option) => option.choices.length > 0)
      .map((option) => {
        const patterns = optionNames(option).map((name) => `"${node.path}:${name}"`);
        return `    ${patterns.join('|')}) ${act(option.choices.join(' '))} ;;`;
      }),
  );
  return lines.join('\n');
}

function wordsOf(node: CompletionNode): string[] {
  return [
    ...node.children.map((child) => lastWord(child.path)),
    ...node.choices,
    ...node.options.flatMap(optionNames),
  ];
}

/** `name:description`, the form that zsh's `_describe` reads. */
function describeWords(node: CompletionNode): string[] {
  return [...node.children.map((child) => `${lastWord(child.path)}:${child.description}`), ...node.choices];
}

function describeOption(option: CompletionOption): string[] {
  return optionNames(option).map((name) => `${name}:${option.description.replaceAll(':', ' -')}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
