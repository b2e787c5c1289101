import { describe, expect, it } from 'vitest';
import { findOffences } from './import-rules.ts';
import { findTerminalWrites } from './terminal-rule.ts';

const linesOf = (source: string, file = 'app/cli/some.ts') =>
  findTerminalWrites(file, source).map(({ line }) => line);

describe('The rule that one module writes to the terminal', () => {
  it.each([
    'process.stdout.write(name);',
    'process . stderr.write(name);',
    "process['stdout'].write(name);",
    'const { stdout } = process;',
    'const streams = process;',
    'console.log(name);',
    "console['error'](name);",
    'const { log } = console;',
    'writeSync(2, name);',
    "import { stdout } from 'node:process';",
    "import { log } from 'node:console';",
    "createWriteStream('/dev/tty').write(name);",
  ])('finds %s', (code) => {
    expect(linesOf(`// one\n${code}\n`)).toEqual([2]);
    for (const folder of ['app/quickstart', 'app/web', 'app/desktop', 'engine/jobs', 'renderer'])
      expect(linesOf(code, `${folder}/some.ts`)).toEqual([1]);
  });

  it('ignores the writer itself, tests, builds and other uses of the process', () => {
    const code = 'process.stdout.write(name);';
    expect(linesOf(code, 'app/cli/output/terminal.ts')).toEqual([]);
    expect(linesOf(code, 'app/cli/some.test.ts')).toEqual([]);
    expect(linesOf(code, 'app/build/build.ts')).toEqual([]);
    expect(linesOf('process.stdin.isTTY; process.exitCode = 1; // process.stdout')).toEqual([1]);
    expect(linesOf('process.stdin.isTTY; process.exitCode = 1;\n// process.stdout\n * console.log')).toEqual(
      [],
    );
  });

  it("is part of the project's checks", () => {
    const offences = findOffences(new Map([['engine/jobs/some.ts', 'console.log(1);\n']]));
    expect(offences).toEqual([
      { file: 'engine/jobs/some.ts', line: 1, what: expect.stringMatching(/app\/cli\/output\/terminal\.ts/) },
    ]);
  });
});
