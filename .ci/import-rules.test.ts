import { describe, expect, it } from 'vitest';
import { findOffences } from './import-rules.ts';
import { findImports } from './import-scan.ts';

/** Returns each offence as `file:line: what`. */
function check(files: Record<string, string>): string[] {
  return findOffences(new Map(Object.entries(files))).map(
    ({ file, line, what }) => `${file}:${line}: ${what}`,
  );
}

describe('findImports', () => {
  it('finds every form of import with its line, and nothing in comments or templates', () => {
    const source = [
      "import { a } from './a.ts';",
      "import type {\n  B,\n  C,\n} from './b.ts';",
      "import './effect.ts';",
      "export { d } from './d.ts';",
      "const e = await import('./e.ts');",
      "type F = import('./f.ts').F;",
      "new Worker(new URL('./g.ts', import.meta.url));",
      "// import './comment.ts';",
      "/* import './block.ts'; */ const text = `\nimport './template.ts';\n`;",
      "const from = 'x'; const url = 'https://host/import'; export const to = 'y';",
    ].join('\n');
    expect(findImports(source).map(({ specifier, line }) => `${line} ${specifier}`)).toEqual([
      '1 ./a.ts',
      '5 ./b.ts',
      '6 ./effect.ts',
      '7 ./d.ts',
      '8 ./e.ts',
      '9 ./f.ts',
      '10 ./g.ts',
    ]);
  });
});

describe('The import rules', () => {
  it('allow a layer to import the layers below it', () => {
    const files = {
      'engine/api/error.ts': 'export const x = 1;\n',
      'engine/model/entry.ts': "import { x } from '../api/error.ts';\nexport const y = x;\n",
      'engine/jobs/push/push.ts': "import { y } from '../../model/entry.ts';\nexport const z = y;\n",
      'app/cli/run.ts':
        "export const run = async () => (await import('../../engine/jobs/push/push.ts')).z;\n",
    };
    expect(check(files)).toEqual([]);
  });

  it('refuse an import that points up, also of a type and when loaded late', () => {
    const jobs = { 'engine/jobs/push/push.ts': 'export type P = 1;\n' };
    const type = "import type { P } from '../jobs/push/push.ts';\nexport const a = 1 as P;\n";
    const late = "\nexport const a = () => import('../jobs/push/push.ts');\n";
    expect(check({ ...jobs, 'engine/model/a.ts': type })).toEqual([
      'engine/model/a.ts:1: imports engine/jobs/push/push.ts: engine/model may not import engine/jobs',
    ]);
    expect(check({ ...jobs, 'engine/query/a.ts': late })).toEqual([
      'engine/query/a.ts:2: imports engine/jobs/push/push.ts: engine/query may not import engine/jobs',
    ]);
  });

  it('refuse an import between neighbours, except in their tests', () => {
    const scan = { 'engine/files/scan/scan.ts': 'export const scan = 1;\n' };
    const source = "import { scan } from '../files/scan/scan.ts';\nexport const a = scan;\n";
    expect(check({ ...scan, 'engine/transfer/a.ts': source })).toHaveLength(1);
    expect(check({ ...scan, 'engine/transfer/a.test.ts': source })).toEqual([]);
  });

  it('allow the renderer to import only the contract', () => {
    const files = {
      'engine/base/clock.ts': 'export const clock = 1;\n',
      'renderer/view.ts': "import { clock } from '../engine/base/clock.ts';\nexport const a = clock;\n",
    };
    expect(check(files)).toEqual([
      'renderer/view.ts:1: imports engine/base/clock.ts: renderer may not import engine/base',
    ]);
  });

  it("allow a vendor's package in one folder only", () => {
    expect(
      check({ 'engine/jobs/a.ts': "import Database from 'better-sqlite3';\nexport const d = Database;\n" }),
    ).toEqual(['engine/jobs/a.ts:1: imports better-sqlite3, which belongs to engine/index alone']);
    const sdk = "export const load = () => import('@aws-sdk/client-s3');\n";
    expect(check({ 'engine/remotes/s3/open.ts': sdk })).toEqual([]);
    expect(check({ 'engine/remotes/open.ts': sdk })).toHaveLength(1);
  });

  it('report each cycle once, with its path', () => {
    const files = {
      'engine/model/a.ts': "import { b } from './b.ts';\nexport const a = b;\n",
      'engine/model/b.ts': "import { c } from './c.ts';\nexport const b = c;\n",
      'engine/model/c.ts': "import { a } from './a.ts';\nexport const c = a;\n",
    };
    expect(check(files)).toEqual([
      'engine/model/c.ts:1: closes a cycle: engine/model/a.ts -> engine/model/b.ts -> engine/model/c.ts -> engine/model/a.ts',
    ]);
  });

  it('refuse barrels, star exports, long files, hooks of helpers and missing imports', () => {
    const real = { 'engine/model/a.ts': 'export const a = 1;\n' };
    expect(
      check({ ...real, 'engine/model/barrel.ts': "/** All. */\nexport { a } from './a.ts';\n" }),
    ).toHaveLength(1);
    expect(
      check({ ...real, 'engine/model/b.ts': "export * from './a.ts';\nexport const b = 1;\n" }),
    ).toHaveLength(1);
    expect(check({ 'engine/model/long.ts': 'export const x = 1;\n'.repeat(501) })).toHaveLength(1);
    const hook = 'beforeEach(() => {});\nexport const x = 1;\n';
    expect(check({ 'e2e/store.ts': hook })).toEqual([
      'e2e/store.ts:1: registers a hook when it loads: do it in a function',
    ]);
    expect(check({ 'e2e/store.test.ts': hook })).toEqual([]);
    expect(check({ 'engine/model/wide.ts': `// ${'wide '.repeat(22)}\nexport const x = 1;\n` })).toEqual([
      'engine/model/wide.ts:1: has a comment over 110 columns',
    ]);
    expect(check({ 'engine/model/b.ts': "import { c } from './c.ts';\nexport const b = c;\n" })).toHaveLength(
      1,
    );
  });
});
