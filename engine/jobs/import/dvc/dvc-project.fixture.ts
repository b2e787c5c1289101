/** DVC projects made by hand and by the real git, for tests. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterEach, beforeEach } from 'vitest';
import { createSandbox, type Sandbox } from '../../session/job.fixture.ts';

export function md5Of(content: string | Uint8Array): string {
  return createHash('md5').update(content).digest('hex');
}

export interface HandMadeProject {
  readonly root: string;
  git(...words: string[]): string;
  /** Writes a file of the project. */
  write(path: string, content: string): void;
  remove(path: string): void;
  /** Puts content on the remote, by DVC's rules. @returns Its MD5. */
  store(content: string | Uint8Array, options?: StoreOptions): string;
  /** Commits everything. @returns The id. */
  commit(message: string, seconds?: number): string;
}

interface StoreOptions {
  /** The folder; default: `remote`. */
  readonly at?: string;
  /** In the layout of 2.x, with its hash of text. */
  readonly isOld?: boolean;
  /** What lies there, if it is something else. */
  readonly damagedBy?: string;
  /** The list of a folder. */
  readonly isFolder?: boolean;
}

const CONFIG = `[core]
    remote = store
['remote "store"']
    url = ../../remote
['remote "other"']
    url = ../../other
`;

export let sandbox: Sandbox;
export let project: HandMadeProject;

/** Gives each test of the file that calls this a new `sandbox` with a new `project` in it. */
export function freshProjectPerTest(): void {
  beforeEach(() => {
    sandbox = createSandbox();
    project = createDvcProject(sandbox);
  });
  afterEach(() => sandbox[Symbol.dispose]());
}

export function createDvcProject(sandbox: Sandbox): HandMadeProject {
  const root = sandbox.path('project');
  let time = 1_600_000_000;
  const project: HandMadeProject = {
    root,
    git: (...words) =>
      execFileSync('git', ['-C', root, ...words], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          GIT_CONFIG_GLOBAL: '/dev/null',
          GIT_AUTHOR_NAME: 'Ada Ö',
          GIT_AUTHOR_EMAIL: 'ada@example.org',
          GIT_AUTHOR_DATE: `${time} +0200`,
          GIT_COMMITTER_NAME: 'Bob',
          GIT_COMMITTER_EMAIL: 'bob@example.org',
          GIT_COMMITTER_DATE: `${time + 5000} +0200`,
        },
      }),
    write: (path, content) => {
      sandbox.write(`project/${path}`, content);
    },
    remove: (path) => rmSync(`${root}/${path}`),
    store(content, { at = 'remote', damagedBy, isFolder = false, isOld = false } = {}) {
      const bytes = Buffer.from(content);
      const md5 = md5Of(isOld ? bytes.toString('latin1').replaceAll('\r\n', '\n') : bytes);
      const key = `${md5.slice(0, 2)}/${md5.slice(2)}${isFolder ? '.dir' : ''}`;
      sandbox.write(`${at}/${isOld ? key : `files/md5/${key}`}`, damagedBy ?? content);
      return md5;
    },
    commit(message, seconds = time + 1000) {
      time = seconds;
      project.git('add', '-A');
      project.git('commit', '-q', '--allow-empty', '-m', message);
      return project.git('rev-parse', 'HEAD').trim();
    },
  };
  project.write('.dvc/config', CONFIG);
  project.git('init', '-q', '-b', 'main');
  return project;
}

/** A `*.dvc` file. */
export function dvcFile(
  path: string,
  md5: string,
  more: Readonly<Record<string, unknown>> = { hash: 'md5' },
) {
  return `${JSON.stringify({ outs: [{ path, md5, ...more }] })}\n`;
}

/** The content of a `.dir` object. */
export function listOf(files: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(files).map(([relpath, md5]) => ({ md5, relpath })));
}
