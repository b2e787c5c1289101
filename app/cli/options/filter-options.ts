/** The filter options (`--include` and the like), and the filter that they make. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DrayError } from '../../../engine/api/error.ts';
import { given } from '../../../engine/api/given.ts';
import type { JobContext } from '../../../engine/api/jobs/jobs.ts';
import type { FilterRule, TreeFilterRequest } from '../../../engine/api/jobs/trees.ts';
import { parseFilterRule, type RuleLine, readRuleLines } from '../../../engine/model/tree-filter.ts';
import { parseMomentOption } from '../output/moment.ts';
import { parseSizeOption } from './global-options.ts';

export interface FilterOptions {
  /** The rules in the order given, from all options. */
  readonly rules?: readonly GivenRule[];
  readonly filesFrom?: string;
  readonly minSize?: number;
  readonly maxSize?: number;
  readonly newer?: number;
  readonly older?: number;
  readonly useServerModtime?: true;
}

/** A filter's needs from a job: the folder that files are relative to, and where warnings go. */
export type FilterContext = Pick<JobContext, 'directory' | 'emit'>;

/** rclone reads all rules of one option, then all of the next (its documentation, "Filtering", 2026). */
const RULE_OPTIONS = [
  {
    flag: '--include',
    action: 'include',
    help: 'include matching files, and exclude files that no rule includes',
  },
  {
    flag: '--include-from',
    action: 'include',
    isFile: true,
    help: 'read patterns to include from a file, one per line',
  },
  { flag: '--exclude', action: 'exclude', help: 'exclude matching files' },
  {
    flag: '--exclude-from',
    action: 'exclude',
    isFile: true,
    help: 'read patterns to exclude from a file, one per line',
  },
  { flag: '--filter', help: '"+ PATTERN" includes, "- PATTERN" excludes; the first match decides' },
  { flag: '--filter-from', isFile: true, help: 'read such rules from a file, one per line' },
] as const satisfies readonly RuleOption[];

interface RuleOption {
  readonly flag: string;
  readonly help: string;
  /** The value names a file of patterns or rules. */
  readonly isFile?: true;
  /** Whether all its patterns include or exclude. Undefined: each rule says so itself. */
  readonly action?: FilterRule['action'];
}

interface GivenRule {
  readonly option: RuleOption;
  readonly value: string;
}

export function addFilterOptions(command: Command): void {
  command.optionsGroup('Which files:');
  for (const option of RULE_OPTIONS) command.addOption(createRuleOption(option));
  command
    .option('--files-from <file>', 'only the paths listed in this file, one per line')
    .addOption(new Option('--min-size <size>', 'only files of at least this size').argParser(parseSizeOption))
    .addOption(new Option('--max-size <size>', 'only files of at most this size').argParser(parseSizeOption))
    .addOption(
      new Option('--newer <when>', 'only files modified since then: 7d, 12h, 30m, or a date').argParser(
        parseMomentOption,
      ),
    )
    .addOption(
      new Option('--older <when>', 'only files not modified since then').argParser(parseMomentOption),
    )
    .option('--use-server-modtime', 'use the upload time as the age of an object; saves a HEAD for each');
}

/** All of them store their rules under one name. */
function createRuleOption(rule: RuleOption): Option {
  const value = rule.isFile ? '<file>' : rule.action ? '<pattern>' : '<rule>';
  const option = new Option(`${rule.flag} ${value}`, rule.help).argParser(
    (text: string, before: readonly GivenRule[] | undefined) => [
      ...(before ?? []),
      { option: rule, value: text },
    ],
  );
  option.attributeName = () => 'rules';
  return option;
}

/** Undefined if nothing is filtered. @throws `usage` for an invalid rule or an unreadable file. */
export function toFilter(options: FilterOptions, context: FilterContext): TreeFilterRequest | undefined {
  const { filesFrom, maxSize, minSize, newer, older, rules, useServerModtime } = options;
  const filter = given({
    rules: rules && toRules(rules, context),
    filesFrom: filesFrom === undefined ? undefined : pathsOf(readText(filesFrom, context.directory)),
    minSizeBytes: minSize,
    maxSizeBytes: maxSize,
    newerThanMs: newer,
    olderThanMs: older,
    serverTime: useServerModtime,
  });
  return Object.keys(filter).length === 0 ? undefined : filter;
}

function toRules(asGiven: readonly GivenRule[], { directory, emit }: FilterContext): readonly FilterRule[] {
  const ordered = RULE_OPTIONS.flatMap((option) => asGiven.filter((rule) => rule.option === option));
  if (ordered.some((rule, at) => rule !== asGiven[at])) {
    const flags = [...new Set(ordered.map(({ option }) => option.flag))].join(', then ');
    const message = `As in rclone, rules apply by option, not in the order given: ${flags}. Use only --filter to choose the order.`;
    emit({ type: 'warning', warning: 'rulesReordered', message });
  }
  let rules: FilterRule[] = [];
  for (const rule of ordered) {
    const { action } = rule.option;
    for (const { origin, text } of linesOf(rule, directory)) {
      const parsed = action ? { action, pattern: text } : parseFilterRule(text, origin);
      if (parsed === 'clear') rules = [];
      else rules.push(parsed);
    }
  }
  const isChoice = ordered.some(({ option }) => option.action === 'include');
  return isChoice ? [...rules, { action: 'exclude', pattern: '/**' }] : rules;
}

function linesOf({ option, value }: GivenRule, directory: string): readonly RuleLine[] {
  if (!option.isFile) return [{ origin: option.flag, text: value }];
  return readRuleLines(readText(value, directory), value);
}

function readText(file: string, directory: string): string {
  if (file === '-') {
    throw new DrayError(
      'usage',
      'Filters cannot be read from standard input. Name a file (./- for a file called "-").',
    );
  }
  try {
    return readFileSync(resolve(directory, file), 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw new DrayError('usage', `The file ${file} cannot be read (${code}).`, {
      data: { path: file },
      cause,
    });
  }
}

/** One per line, spaces included. Lines that begin with `#` are comments. */
function pathsOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '' && !line.startsWith('#'));
}
