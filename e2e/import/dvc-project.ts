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
import type { Draw } from '../seeded-draw.ts';
import { type DvcMajor, dvcPath } from '../servers/dvc-tool.ts';

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
  /** The remotes keep versions: DVC stores files under their own names. */
  readonly isVersioned?: boolean;
  /** The project is a folder of the git repository, beside another project that it does not know. */
  readonly isNested?: boolean;
  /** The cache is kept, so outputs with `push: false` can be imported. */
  readonly keepsCache?: boolean;
}

export interface DvcProject {
  readonly root: string;
  /** One for each commit, in order. */
  readonly tags: readonly string[];
  git(...words: string[]): Promise<string>;
  /** The files that DVC writes at a tag: content and executable bit by path. */
  pull(tag: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Removes git, and then all that DVC tracks. The function writes it again, and returns it as `pull` does.
   */
  leaveGit(): Promise<() => Promise<ReadonlyMap<string, string>>>;
}

export async function makeDvcProject(options: DvcProjectOptions): Promise<DvcProject> {
  const project = await openProject(options);
  const { draw, isNested = false, keepsCache = false, version } = options;
  const root = rootOf(options);
  const tags: string[] = [];
  const avoids = { emptyFolder: options.isVersioned === true, move: version === 'mixed' };
  let major: DvcMajor = version === 'mixed' ? 2 : version;
  for (let at = 0; at < options.commits; at += 1) {
    if (version === 'mixed' && at >= options.commits / 2) major = 3;
    const dvc = (...words: string[]) => project.dvc(major, ...words);
    const isSide = at > 1 && draw.chance(25);
    if (isSide) await project.git('checkout', '-q', '-f', '-b', `side-${at}`, tags[draw.below(tags.length)]!);
    // Git would take the data of another branch for its own.
    if (isSide) await project.git('clean', '-qxdf', '-e', '.dvc');
    await change({ at, draw, dvc, root, isFirst: at === 0, isSide, keepsCache, avoids });
    // With -q it does not say why it failed.
    await dvc('push');
    if (isNested)
      writeFileSync(join(options.root, 'beside.dvc'), `outs:\n- md5: ${'0'.repeat(32)}\n  path: x\n`);
    await project.git('add', '-A', ':/');
    await project.git('commit', '-q', '--allow-empty', '-m', `Change ${at}\n\nwith ä body`);
    if (isSide) {
      await project.git('checkout', '-q', 'main');
      await project.git('merge', '-q', '--no-ff', '-m', `Merge ${at}`, `side-${at}`);
      await dvc('checkout', '-q', '-f');
    }
    await project.git('tag', ...(draw.chance(50) ? ['-a', '-m', 'A tag'] : []), `r${at}`);
    tags.push(`r${at}`);
  }
  if (!keepsCache && draw.chance(70)) rmSync(join(root, '.dvc', 'cache'), { recursive: true, force: true });
  const dataNow = async () => {
    const listed = await project.git('ls-files', '-z', '-o', '-i', '--exclude-standard');
    return listed.split('\0').filter((path) => path !== '' && !path.startsWith('.dvc/'));
  };
  return {
    root,
    tags,
    git: project.git,
    async pull(tag) {
      await project.git('checkout', '-q', '-f', tag);
      await project.git('clean', '-qxdf', '-e', '.dvc');
      await project.dvc(major, 'pull', '-f');
      return describeFiles(root, await dataNow());
    },
    async leaveGit() {
      const before = await dataNow();
      rmSync(join(options.root, '.git'), { recursive: true });
      await project.dvc(major, 'config', '-q', 'core.no_scm', 'true');
      for (const path of before) rmSync(join(root, path));
      const others = new Set(filesIn(root).keys());
      return async () => {
        await project.dvc(major, 'pull', '-f');
        return describeFiles(
          root,
          [...filesIn(root).keys()].filter((path) => !others.has(path) && !path.startsWith('.dvc/')),
        );
      };
    },
  };
}

function rootOf({ isNested, root }: DvcProjectOptions): string {
  return isNested ? join(root, 'nested', 'project') : root;
}

function describeFiles(root: string, paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(paths.map((path) => [path, describeFile(join(root, path))]));
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
  return describeFiles(root, paths);
}

async function openProject(options: DvcProjectOptions) {
  const { draw, environment, isNested, isVersioned, remotes, settings, version } = options;
  const root = rootOf(options);
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
  await git('init', '-q', '-b', 'main', options.root);
  await dvc(major, 'init', '-q', ...(isNested ? ['--subdir'] : []));
  await dvc(major, 'remote', 'add', '-q', '-d', 'store', remotes[0]);
  await dvc(major, 'remote', 'add', '-q', 'other', remotes[1]);
  for (const name of ['store', 'other'])
    for (const [key, value] of Object.entries(settings ?? {}))
      await dvc(major, 'remote', 'modify', '-q', '--local', name, key, value);
  for (const name of isVersioned ? ['store', 'other'] : [])
    await dvc(major, 'remote', 'modify', '-q', name, 'version_aware', 'true');
  return { git, dvc };
}

/** What DVC itself does not pull again afterwards (2.58.2 and 3.59.1). */
interface Avoids {
  /** At a remote with cloud versioning an empty folder loses its hash. */
  readonly emptyFolder: boolean;
  /** DVC 3 gives a text that DVC 2 added another hash when it moves it, and stores nothing under it. */
  readonly move: boolean;
}

interface Change {
  readonly at: number;
  readonly draw: Draw;
  readonly root: string;
  readonly isFirst: boolean;
  readonly isSide: boolean;
  readonly keepsCache: boolean;
  readonly avoids: Avoids;
  dvc(...words: string[]): Promise<string>;
}

const KINDS = ['folder', 'file', 'pipeline', 'remove', 'other', 'move', 'private', 'nothing'] as const;
type Kind = (typeof KINDS)[number];

/** On a side branch, only paths that no other branch changes, so that the merge has no conflict. */
async function change(options: Change): Promise<void> {
  const { at, draw, dvc, isFirst, isSide, root } = options;
  if (isSide) {
    write(root, `side-${at}/file`, textOf(draw));
    await dvc('add', '-q', `side-${at}/file`);
    return;
  }
  const kinds: readonly Kind[] = isFirst ? ['folder', 'file'] : [draw.of(KINDS), draw.of(KINDS)];
  for (const kind of kinds) {
    if (kind === 'folder') await changeFolder(options);
    else if (kind === 'file') await changeFile(options, draw.of(['one.csv', 'sub/two.bin']), '');
    else if (kind === 'other') await changeFile(options, 'other.csv', 'remote: other');
    else if (kind === 'private' && options.keepsCache)
      await changeFile(options, 'deep/private', 'push: false');
    else if (kind === 'pipeline') {
      const folder = draw.of(['code', 'more/code']);
      write(root, `${folder}/dvc.yaml`, pipelineOf(draw.below(1000)));
      await dvc('repro', '-q', `${folder}/dvc.yaml`);
    } else if (kind === 'remove') {
      const path = draw.of(['one.csv', 'deep/er set', 'other.csv']);
      if (!existsSync(join(root, `${path}.dvc`))) continue;
      await dvc('remove', '-q', `${path}.dvc`);
      rmSync(join(root, path), { recursive: true, force: true });
    } else if (kind === 'move' && !options.avoids.move) {
      const [from, to] = draw.of([
        ['one.csv', `moved/to-${at}`],
        ['set', `renamed-${at}`],
      ] as const);
      if (existsSync(join(root, `${from}.dvc`))) {
        mkdirSync(join(root, 'moved'), { recursive: true });
        await dvc('move', '-q', from, to);
      }
    }
  }
}

function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

async function changeFolder({ avoids, draw, dvc, root }: Change): Promise<void> {
  const drawn = draw.of(['set', 'deep/er set', 'empty folder']);
  const folder = avoids.emptyFolder && drawn === 'empty folder' ? 'set' : drawn;
  mkdirSync(join(root, folder), { recursive: true });
  if (folder !== 'empty folder') {
    for (let count = 1 + draw.below(4); count > 0; count -= 1)
      write(root, `${folder}/${draw.of(['a', 'b.txt', 'c/d', 'ü e', 'f.dvc.bin'])}`, textOf(draw));
    if (draw.chance(30)) rmSync(join(root, folder, 'a'), { force: true });
    write(root, `${folder}/kept`, draw.chance(30) ? '' : 'kept\r\n');
  }
  mkdirSync(join(root, folder, 'nothing in it'), { recursive: true });
  await dvc('add', '-q', folder);
}

/** @param setting A line of the `*.dvc` file. */
async function changeFile({ draw, dvc, root }: Change, path: string, setting: string): Promise<void> {
  write(root, path, textOf(draw));
  chmodSync(join(root, path), draw.chance(30) ? 0o755 : 0o644);
  await dvc('add', '-q', path);
  const file = join(root, `${path}.dvc`);
  const text = readFileSync(file, 'utf8');
  if (!text.includes(setting)) writeFileSync(file, `${text.trimEnd()}\n  ${setting}\n`);
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
