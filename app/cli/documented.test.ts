/** Checks that the documents list every event, field, warning, error code and command. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CommandHost } from './command-host.ts';
import { buildProgram } from './program.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');
const contract = read('engine/api/README.md');
const events = contract.slice(contract.indexOf('### Events'), contract.indexOf('### Warnings'));
const warningTable = contract.slice(contract.indexOf('### Warnings'), contract.indexOf('### Summaries'));

/** The properties of an interface, without those of nested types. */
function interfacesIn(path: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [, name, body] of read(path).matchAll(/^export interface (\w+)[^{]*\{\n(.*?)^\}/gms))
    found.set(
      name!,
      [...body!.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field]) => field!),
    );
  return found;
}

describe('the document of what programs see', () => {
  it('has a row for each event, with each of its fields', () => {
    const source = read('engine/api/events.ts');
    const missing: string[] = [];
    for (const [name, fields] of interfacesIn('engine/api/events.ts')) {
      if (!fields.includes('type')) continue;
      const type = new RegExp(`interface ${name} \\{\\s+readonly type: '(\\w+)'`).exec(source)?.[1];
      const row = events.split('\n').find((line) => line.startsWith(`| \`${type}\` |`)) ?? '';
      for (const field of fields)
        if (field !== 'type' && !row.includes(`\`${field}\``)) missing.push(`${type}: ${field}`);
      if (row === '') missing.push(`${type}`);
    }
    expect(missing).toEqual([]);
  });

  it('names each field of each summary', () => {
    const files = ['imports', 'jobs', 'diff', 'merge', 'scope', 'trees', 'peers'].map((name) =>
      interfacesIn(`engine/api/jobs/${name}.ts`),
    );
    const fields = files.flatMap((file) =>
      [...file].flatMap(([name, all]) => (name.endsWith('Summary') ? all : [])),
    );
    expect(fields.length).toBeGreaterThan(60);
    expect(fields.filter((field) => !contract.includes(`\`${field}\``))).toEqual([]);
  });

  it('names each warning and each error code, and no other warning', () => {
    const sources = globSync('{engine,app}/**/*.ts', { cwd: ROOT })
      .filter((path) => !/\.(?:test|fixture)\.ts$/.test(path))
      .map(read);
    const warnings = sources.flatMap((text) =>
      [...text.matchAll(/\b(?:warning: |warn\(\s*)'(\w+)'/g)].map(([, name]) => name!),
    );
    const table = /const EXIT_CODES = \{(.*?)\} as const/s.exec(read('engine/api/error.ts'))![1]!;
    const codes = [...table.matchAll(/^ {2}(\w+): \d/gm)].map(([, name]) => name!);
    expect([warnings.length > 10, codes.length > 20]).toEqual([true, true]);
    expect([...warnings, ...codes].filter((name) => !contract.includes(`\`${name}\``))).toEqual([]);
    const named = [...warningTable.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) => names!.match(/\w+/g)!);
    const isUsed = (name: string) => sources.some((text) => text.includes(`'${name}'`));
    expect(named.filter((name) => name !== 'warning' && !isUsed(name))).toEqual([]);
  });
});

const DOCUMENTS = globSync(['*.md', '{.github,app,bench,e2e,engine,renderer}/**/*.md'], { cwd: ROOT });

describe('the guide', () => {
  const host: CommandHost = { environment: {}, exit: () => {}, exitCode: 0 };
  const program = buildProgram(host);
  const commands = read('app/guide/commands.md');

  it('has each command in its tables', () => {
    const names = program.commands.map((command) => command.name());
    expect(names.filter((name) => !new RegExp(`^\\|.*\`dray ${name}\\b`, 'm').test(commands))).toEqual([]);
  });

  it('names the commands that take --bwlimit', () => {
    const limited = program.commands.filter(({ options }) =>
      options.some(({ long }) => long === '--bwlimit'),
    );
    const [, names] = /take `--bwlimit 10M`, in mebibytes a second:\n([^.]*)\.$/m.exec(commands)!;
    expect(names!.match(/\w+/g)).toEqual(limited.map((command) => command.name()).sort());
  });

  it('and all other documents speak of no command, option or script that does not exist', () => {
    const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
    const unknown: string[] = [];
    for (const path of DOCUMENTS) {
      const text = read(path).replaceAll('\\|', '|');
      for (const [line, name, rest] of text.matchAll(/(?:`|\$ )dray ([a-z]+)\b([^`\n]*)/g)) {
        const command = program.commands.find((known) => known.name() === name);
        const own = [command, ...(command?.commands ?? []), program].flatMap((known) => known?.options ?? []);
        const options = rest!.match(/(?<=\s|\[)--[a-z][a-z-]+/g) ?? [];
        const isKnown = (option: string) => option === '--help' || own.some(({ long }) => long === option);
        if (!command || !options.every(isKnown)) unknown.push(`${path}: ${line}`);
      }
      for (const [line, script] of text.matchAll(/npm run (?:-s )?([\w:]+)/g))
        if (!scripts.includes(script!)) unknown.push(`${path}: ${line}`);
    }
    expect(unknown).toEqual([]);
  });

  it('names a test for each promise', () => {
    const text = read('app/guide/promises.md');
    const promises = text.slice(text.indexOf('## What Dray promises'), text.indexOf('## Who is trusted'));
    const items = promises.split(/^(?=- )/m).slice(1);
    expect(items.length).toBeGreaterThan(7);
    expect(items.filter((item) => !/\]\([\w./-]+\.test\.ts\)/.test(item))).toEqual([]);
  });

  it('has each exit code of the help', () => {
    const help = read('app/cli/program.ts');
    const codes = [...help.matchAll(/^ {2,}(\d+) {2,}\w/gm)].map(([, code]) => code!);
    const scripting = read('app/guide/scripting.md');
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter((code) => !new RegExp(`^\\| (?:\\d+, )?${code}\\b`, 'm').test(scripting))).toEqual(
      [],
    );
  });

  it('begins with a README that is read in a minute', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(250);
  });
});
