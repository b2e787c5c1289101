/** Random DVC projects, made by the real DVC and git, each commit under a tag of its own. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Draw } from './seeded-draw.ts';
import { type DvcMajor, dvcPath } from './servers/dvc-tool.ts';

const run = promisify(execFile);

export interface DvcProjectOptions {
  readonly root: string;
  readonly draw: Draw;
  /** `mixed`: 2.x first, then 3.x. */
  readonly version: DvcMajor | 'mixed';
  /** URLs of two remotes. The first is the default one. */
  readonly remotes: readonly [string, string];
  /** Settings of both remotes, such as `endpointurl`. They go into `config.local`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly commits: number;
}

export interface DvcProject {
  readonly root: string;
  /** One for each commit, in order. */
  readonly tags: readonly string[];
  git(...words: string[]): Promise<string>;
  /** The files that DVC writes at a tag: content and executable bit by path. */
  pull(tag: string): Promise<ReadonlyMap<string, string>>;
  dropCache(): void;
}

export async function makeDvcProject(options: DvcProjectOptions): Promise<DvcProject> {
  const project = await openProject(options);
  const { draw, root, version } = options;
  const tags: string[] = [];
  let major: DvcMajor = version === 'mixed' ? 2 : version;
  for (let at = 0; at < options.commits; at += 1) {
    if (version === 'mixed' && at >= options.commits / 2) major = 3;
    const dvc = (...words: string[]) => project.dvc(major, ...words);
    const isSide = at > 1 && draw.chance(25);
    if (isSide) await project.git('checkout', '-q', '-f', '-b', `side-${at}`, tags[draw.below(tags.length)]!);
    // Git would take the data of another branch for its own.
    if (isSide) await project.git('clean', '-qxdf', '-e', '.dvc');
    await change({ at, draw, dvc, root, isFirst: at === 0, isSide });
    await dvc('push', '-q');
    await project.git('add', '-A');
    await project.git('commit', '-q', '--allow-empty', '-m', `Change ${at}\n\nwith ä body`);
    if (isSide) {
      await project.git('checkout', '-q', 'main');
      await project.git('merge', '-q', '--no-ff', '-m', `Merge ${at}`, `side-${at}`);
      await dvc('checkout', '-q', '-f');
    }
    await project.git('tag', ...(draw.chance(50) ? ['-a', '-m', 'A tag'] : []), `r${at}`);
    tags.push(`r${at}`);
  }
  return {
    root,
    tags,
    git: project.git,
    dropCache: () => rmSync(join(root, '.dvc', 'cache'), { recursive: true, force: true }),
    async pull(tag) {
      await project.git('checkout', '-q', '-f', tag);
      await project.git('clean', '-qxdf', '-e', '.dvc');
      await project.dvc(major, 'pull', '-q', '-f');
      const listed = await project.git('ls-files', '-z', '-o', '-i', '--exclude-standard');
      const paths = listed.split('\0').filter((path) => path !== '' && !path.startsWith('.dvc/'));
      return new Map(paths.map((path) => [path, describeFile(join(root, path))]));
    },
  };
}

/** Content and executable bit. */
function describeFile(path: string): string {
  const isExecutable = (statSync(path).mode & 0o100) !== 0;
  return `${isExecutable ? 'x' : '-'} ${readFileSync(path).toString('base64')}`;
}

/** All files of a workspace, as `describeFile` says. */
export function filesIn(root: string): ReadonlyMap<string, string> {
  const paths = (readdirSync(root, { recursive: true }) as string[]).filter(
    (path) => !path.startsWith('.dray') && statSync(join(root, path)).isFile(),
  );
  return new Map(paths.map((path) => [path, describeFile(join(root, path))]));
}

async function openProject({ draw, environment, remotes, root, settings, version }: DvcProjectOptions) {
  mkdirSync(root, { recursive: true });
  const person = { NAME: 'Ada Ö', EMAIL: 'ada@example.org' };
  let seconds = 1_600_000_000 + draw.below(10_000);
  const call = async (command: string, words: readonly string[]) => {
    seconds += 60 + draw.below(1000);
    const env = {
      ...process.env,
      ...environment,
      DVC_NO_ANALYTICS: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: person.NAME,
      GIT_AUTHOR_EMAIL: person.EMAIL,
      GIT_COMMITTER_NAME: person.NAME,
      GIT_COMMITTER_EMAIL: person.EMAIL,
      GIT_AUTHOR_DATE: `${seconds} +0200`,
      GIT_COMMITTER_DATE: `${seconds} +0200`,
    };
    return (await run(command, words, { cwd: root, env, maxBuffer: 2 ** 26 })).stdout;
  };
  const git = (...words: string[]) => call('git', words);
  const dvc = async (major: DvcMajor, ...words: string[]) => call(await dvcPath(major), words);
  const major = version === 'mixed' ? 2 : version;
  await git('init', '-q', '-b', 'main');
  await dvc(major, 'init', '-q');
  await dvc(major, 'remote', 'add', '-q', '-d', 'store', remotes[0]);
  await dvc(major, 'remote', 'add', '-q', 'other', remotes[1]);
  for (const name of ['store', 'other'])
    for (const [key, value] of Object.entries(settings ?? {}))
      await dvc(major, 'remote', 'modify', '-q', '--local', name, key, value);
  return { git, dvc };
}

interface Change {
  readonly at: number;
  readonly draw: Draw;
  readonly root: string;
  readonly isFirst: boolean;
  readonly isSide: boolean;
  dvc(...words: string[]): Promise<string>;
}

/** On a side branch, only paths that no other branch changes, so that the merge has no conflict. */
async function change({ at, draw, dvc, isFirst, isSide, root }: Change): Promise<void> {
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  if (isSide) {
    write(`side-${at}/file`, textOf(draw));
    await dvc('add', '-q', `side-${at}/file`);
    return;
  }
  const kinds = ['folder', 'file', 'pipeline', 'remove', 'other', 'nothing'] as const;
  for (const kind of isFirst ? (['folder', 'file'] as const) : [draw.of(kinds), draw.of(kinds)]) {
    if (kind === 'folder') {
      const folder = draw.of(['set', 'deep/er set']);
      for (let count = 1 + draw.below(4); count > 0; count -= 1)
        write(`${folder}/${draw.of(['a', 'b.txt', 'c/d', 'ü e', 'f.dvc.bin'])}`, textOf(draw));
      if (draw.chance(30)) rmSync(join(root, folder, 'a'), { force: true });
      write(`${folder}/kept`, draw.chance(30) ? '' : 'kept\r\n');
      await dvc('add', '-q', folder);
    } else if (kind === 'file' || kind === 'other') {
      const path = kind === 'other' ? 'other.csv' : draw.of(['one.csv', 'sub/two.bin']);
      write(path, textOf(draw));
      chmodSync(join(root, path), draw.chance(30) ? 0o755 : 0o644);
      await dvc('add', '-q', path);
      const file = join(root, `${path}.dvc`);
      const text = readFileSync(file, 'utf8');
      if (kind === 'other' && !text.includes('remote:'))
        writeFileSync(file, `${text.trimEnd()}\n  remote: other\n`);
    } else if (kind === 'pipeline') {
      write('code/dvc.yaml', pipelineOf(draw.below(1000)));
      await dvc('repro', '-q', 'code/dvc.yaml');
    } else if (kind === 'remove' && existsSync(join(root, 'one.csv.dvc'))) {
      await dvc('remove', '-q', 'one.csv.dvc');
      rmSync(join(root, 'one.csv'), { force: true });
    }
  }
}

function pipelineOf(number: number): string {
  return [
    'stages:',
    '  make:',
    `    cmd: mkdir -p made && echo ${number} > made/x && echo ${number % 7} > y.txt && echo 1 > m.json`,
    '    outs:',
    '      - made',
    '      - y.txt:',
    '          persist: true',
    '    metrics:',
    '      - m.json:',
    '          cache: false',
    '  each:',
    '    foreach: [p, q]',
    '    do:',
    `      cmd: echo \${item}${number} > each-\${item}.txt`,
    '      outs:',
    `        - each-\${item}.txt`,
    '',
  ].join('\n');
}

/** Text with and without CRLF, and binary data, short and longer than the 1 MiB that DVC reads at once. */
function textOf(draw: Draw): string | Buffer {
  const number = draw.below(12);
  const lines = Array.from({ length: 1 + draw.below(6) }, (_, line) => `line ${line} of ${number}`);
  if (draw.chance(8)) return Buffer.concat([Buffer.from('text\r\n'.repeat(200_000)), draw.noise(50_000)]);
  if (draw.chance(8)) return `${'y'.repeat(2 ** 20 - 1)}\r\n${number}`;
  if (draw.chance(20)) return draw.noise(2000 + number);
  return lines.join(draw.chance(50) ? '\r\n' : '\n');
}
