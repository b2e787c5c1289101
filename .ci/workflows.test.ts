/** Checks `.github` as far as possible without its servers, where the workflows run. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const { load } = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown };

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, { readonly uses?: string; readonly 'timeout-minutes'?: number }>>;
}

interface IssueForm {
  readonly name?: string;
  readonly description?: string;
  readonly body?: readonly { readonly type: string; readonly id?: string }[];
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');
const filesOf = (pattern: string) =>
  globSync(pattern, { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
const scripts: Readonly<Record<string, string>> = JSON.parse(read('package.json')).scripts;

describe.each(filesOf('.github/workflows/*.yml'))('%s', (path) => {
  const text = read(path);
  const workflow = load(text) as Workflow;

  it('pins each action to a commit, and says which version that is', () => {
    const lines = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));
    expect(lines.length).toBeGreaterThan(0);
    const isPinned = (line: string) =>
      /uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line) ||
      existsSync(`${ROOT}${/uses: \.\/(.*)$/.exec(line)?.[1]}`);
    expect(lines.filter((line) => !isPinned(line))).toEqual([]);
  });

  it('states its permissions, and how long each job may take', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const jobs = Object.entries(workflow.jobs).filter(([, job]) => job.uses === undefined);
    expect(jobs.filter(([, job]) => !job['timeout-minutes']).map(([name]) => name)).toEqual([]);
  });
});

it.each(filesOf('.github/**/*.{md,yml}'))('the npm scripts that %s calls exist', (path) => {
  const called = [...read(path).matchAll(/\bnpm (?:run ([\w:]+)|(test)\b)/g)].map(
    ([, run, test]) => run ?? test!,
  );
  expect(called.filter((name) => scripts[name] === undefined)).toEqual([]);
});

it.each(filesOf('.github/ISSUE_TEMPLATE/*.yml'))('%s is a form', (path) => {
  const form = load(read(path)) as IssueForm;
  if (path.endsWith('/config.yml')) return expect(form).toHaveProperty('blank_issues_enabled');
  expect([form.name, form.description]).not.toContain(undefined);
  const fields = form.body!.filter(({ type }) => type !== 'markdown');
  expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
});
