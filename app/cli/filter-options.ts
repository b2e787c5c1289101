/** The options that say which files of a tree are taken, and the filter that they make. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DrayError } from '../../engine/api/error.ts';
import type { FilterRule, TreeFilterRequest } from '../../engine/api/trees.ts';
import { parseFilterFile } from '../../engine/model/tree-filter.ts';
import { given } from './given.ts';
import { parseSizeOption } from './global-options.ts';
import { parseMomentOption } from './moment.ts';

export interface FilterOptions {
  /** As they were given, whichever option each came by: their order counts. */
  readonly rules?: readonly GivenRule[];
  readonly filesFrom?: string;
  readonly minSize?: number;
  readonly maxSize?: number;
  readonly newer?: number;
  readonly older?: number;
}

type GivenRule = FilterRule | { readonly file: string };

export function addFilterOptions(command: Command): void {
  command
    .optionsGroup('Which files:')
    .addOption(
      createRuleOption(
        '--include <pattern>',
        'take what matches; if it is the first rule, nothing else',
        (pattern) => ({ action: 'include', pattern }),
      ),
    )
    .addOption(
      createRuleOption(
        '--exclude <pattern>',
        'leave out what matches; rules count in their order',
        (pattern) => ({
          action: 'exclude',
          pattern,
        }),
      ),
    )
    .addOption(
      createRuleOption(
        '--filter-from <file>',
        'rules from a file: "+ PATTERN" and "- PATTERN" lines',
        (file) => ({
          file,
        }),
      ),
    )
    .option('--files-from <file>', 'only the paths that the file names, one a line')
    .addOption(new Option('--min-size <size>', 'only files of at least this size').argParser(parseSizeOption))
    .addOption(new Option('--max-size <size>', 'only files of at most this size').argParser(parseSizeOption))
    .addOption(
      new Option('--newer <when>', 'only those modified since: 7d, 12h, 30m, or a date').argParser(
        parseMomentOption,
      ),
    )
    .addOption(new Option('--older <when>', 'only those not modified since').argParser(parseMomentOption));
}

/** All of them keep their rules under one name. */
function createRuleOption(flags: string, description: string, toRule: (value: string) => GivenRule): Option {
  const option = new Option(flags, description).argParser(
    (value: string, before: readonly GivenRule[] | undefined) => [...(before ?? []), toRule(value)],
  );
  option.attributeName = () => 'rules';
  return option;
}

/** Undefined when nothing is filtered. @param directory What files are relative to. @throws `usage` for one that cannot be read. */
export function toFilter(options: FilterOptions, directory: string): TreeFilterRequest | undefined {
  const { filesFrom, maxSize, minSize, newer, older, rules } = options;
  const filter = given({
    rules: rules && toRules(rules, directory),
    filesFrom: filesFrom === undefined ? undefined : pathsOf(readText(filesFrom, directory)),
    minSizeBytes: minSize,
    maxSizeBytes: maxSize,
    newerThanMs: newer,
    olderThanMs: older,
  });
  return Object.keys(filter).length === 0 ? undefined : filter;
}

function toRules(rules: readonly GivenRule[], directory: string): readonly FilterRule[] {
  const [first] = rules;
  return [
    ...rules.flatMap((rule) => ('file' in rule ? parseFilterFile(readText(rule.file, directory)) : rule)),
    // Who begins by saying what is wanted does not want the rest.
    ...(first && !('file' in first) && first.action === 'include'
      ? [{ action: 'exclude', pattern: '**' } as const]
      : []),
  ];
}

function readText(file: string, directory: string): string {
  if (file === '-') {
    throw new DrayError(
      'usage',
      'Filters are not read from standard input. Name a file (./- for one called "-").',
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

/** One a line, spaces and all; lines that begin with `#` are comments. */
function pathsOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '' && !line.startsWith('#'));
}
