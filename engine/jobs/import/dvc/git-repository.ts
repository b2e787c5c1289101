/** Reads a git repository by the real git: its history, and files of its revisions. Writes nothing. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DrayError, quotedExcerpt } from '../../../api/error.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';

export interface GitCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly timeMs: number;
  readonly message: string;
}

export interface GitRef {
  readonly kind: 'heads' | 'tags';
  readonly name: string;
  readonly commit: string;
}

export interface GitFile {
  /** From the project's root. */
  readonly path: string;
  readonly blob: string;
  readonly isLink: boolean;
}

export interface GitRepository extends AsyncDisposable {
  /** Branches, those of `origin` that are not here by themselves, and tags of commits. */
  refs(): Promise<readonly GitRef[]>;
  /** The branch that is checked out. */
  currentBranch(): Promise<string | undefined>;
  /** Its history ends where it was cut when it was cloned. */
  isShallow(): Promise<boolean>;
  /** @throws `notFound` */
  resolve(revision: string): Promise<string>;
  /** The commits and all before them, parents first. `isAlone`: only these. */
  log(commits: readonly string[], options?: { readonly isAlone?: boolean }): Promise<readonly GitCommit[]>;
  /** All files of a commit below the project's root. */
  files(commit: string): Promise<readonly GitFile[]>;
  read(blob: string): Promise<Buffer>;
}

const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024;
const FILE_BYTES_MAX = 256 * 1024 * 1024;
/** No program of the repository's settings runs, and no lock is taken. */
const SAFE = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false'];

/**
 * Undefined if the folder is not in a git repository.
 * @throws `io` if git is not installed, or cannot read the repository
 */
export async function openGitRepository(
  context: Pick<JobContext, 'environment' | 'signal'>,
  folder: string,
): Promise<GitRepository | undefined> {
  const git = (...words: string[]) => runGit(context, folder, words);
  let prefix: string;
  try {
    prefix = (await git('rev-parse', '--show-prefix')).trim();
  } catch (error) {
    const reason = error instanceof DrayError ? error.data.reason : undefined;
    const isPlain =
      reason === 'noGit' ? !isInGit(folder) : reason === 'notGit' && !existsSync(join(folder, '.git'));
    if (isPlain) return undefined;
    throw error;
  }
  const blobs = new BlobReader(context, folder);
  return {
    refs: async () => parseRefs(await git('for-each-ref', `--format=${REF_FORMAT}`)),
    async currentBranch() {
      const name = await git('symbolic-ref', '-q', '--short', 'HEAD').catch(() => '');
      return name.trim() || undefined;
    },
    isShallow: async () => (await git('rev-parse', '--is-shallow-repository')).trim() === 'true',
    async resolve(revision) {
      try {
        return (await git('rev-parse', '--verify', '-q', '--end-of-options', `${revision}^{commit}`)).trim();
      } catch (cause) {
        if (context.signal.aborted) throw cause;
        const message = `The git repository ${folder} has no revision ${quotedExcerpt(revision)}.`;
        throw new DrayError('notFound', message, { data: { path: folder, revision }, cause });
      }
    },
    async log(commits, { isAlone = false } = {}) {
      if (commits.length === 0) return [];
      const how = isAlone ? ['--no-walk=unsorted'] : ['--topo-order', '--reverse'];
      const words = ['log', '-z', ...how, '--encoding=UTF-8', `--format=${LOG_FORMAT}`, '--stdin'];
      return parseLog(await runGit(context, folder, words, `${commits.join('\n')}\n`));
    },
    async files(commit) {
      const listed = await git('ls-tree', '-r', '-z', '--full-tree', commit, ...(prefix ? [prefix] : []));
      return parseTree(listed, prefix);
    },
    read: (blob) => blobs.read(blob),
    [Symbol.asyncDispose]: () => blobs.close(),
  };
}

function isInGit(folder: string): boolean {
  return existsSync(join(folder, '.git')) || (dirname(folder) !== folder && isInGit(dirname(folder)));
}

const REF_FORMAT = '%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)%00%(symref)';

function parseRefs(text: string): readonly GitRef[] {
  const refs: GitRef[] = [];
  const remote: GitRef[] = [];
  for (const line of text.split('\n')) {
    const [ref = '', type, id = '', peeledType, peeled = '', symbolic] = line.split('\0');
    const commit = type === 'commit' ? id : peeledType === 'commit' ? peeled : undefined;
    if (commit === undefined) continue;
    const [, kind, name] = /^refs\/(heads|tags|remotes\/origin)\/(.+)$/s.exec(ref) ?? [];
    if (kind === 'heads' || kind === 'tags') refs.push({ kind, name: name!, commit });
    else if (name !== undefined && !symbolic) remote.push({ kind: 'heads', name, commit });
  }
  const branches = new Set(refs.filter(({ kind }) => kind === 'heads').map(({ name }) => name));
  return [...refs, ...remote.filter(({ name }) => !branches.has(name))];
}

const LOG_FORMAT = '%H%n%P%n%an <%ae>%n%at%n%B';

function parseLog(text: string): readonly GitCommit[] {
  return text.split('\0').flatMap((record) => {
    if (record === '') return [];
    const [id = '', parents = '', author = '', seconds = '', ...message] = record.split('\n');
    return [
      {
        id,
        parents: parents === '' ? [] : parents.split(' '),
        author,
        timeMs: Number(seconds) * 1000,
        message: message.join('\n').trimEnd(),
      },
    ];
  });
}

const LINK_MODE = '120000';

function parseTree(text: string, prefix: string): readonly GitFile[] {
  return text.split('\0').flatMap((record) => {
    const [, mode, type, blob = '', path = ''] = /^(\d+) (\w+) ([0-9a-f]+)\t(.*)$/s.exec(record) ?? [];
    return type === 'blob' && path.startsWith(prefix)
      ? [{ path: path.slice(prefix.length), blob, isLink: mode === LINK_MODE }]
      : [];
  });
}

function runGit(
  { environment, signal }: Pick<JobContext, 'environment' | 'signal'>,
  folder: string,
  words: readonly string[],
  input?: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: gitEnvironment(environment), maxBuffer: OUTPUT_BYTES_MAX, signal };
    const child = execFile('git', ['-C', folder, ...SAFE, ...words], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      if (signal.aborted) return reject(new DrayError('aborted', 'Stopped on request.'));
      const isMissing = error.code === 'ENOENT';
      const reason = isMissing ? 'noGit' : /not a git repository/i.test(stderr) ? 'notGit' : undefined;
      const message = isMissing
        ? `${folder} is a git repository, and git is not installed here.`
        : `git ${words[0]} failed in ${folder}: ${stderr.trim().split('\n', 1)[0] || error.message}.`;
      const data = { path: folder, ...(reason ? { reason } : {}) };
      reject(new DrayError('io', message, { data, cause: error }));
    });
    // A git that ends before it has read this reports its own error.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

function gitEnvironment(environment: JobContext['environment']): NodeJS.ProcessEnv {
  return { ...environment, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
}

/** One `git cat-file --batch` for all files. */
class BlobReader {
  readonly #context: Pick<JobContext, 'environment'>;
  readonly #folder: string;
  #child: ChildProcessWithoutNullStreams | undefined;
  #chunks: AsyncIterator<Buffer> | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: Pick<JobContext, 'environment'>, folder: string) {
    this.#context = context;
    this.#folder = folder;
  }

  read(blob: string): Promise<Buffer> {
    const reading = this.#last.then(() => this.#readNext(blob));
    this.#last = reading.catch(() => {});
    return reading;
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.stdout.destroy();
    child.stdin.end();
    child.kill();
    await ended;
  }

  async #readNext(blob: string): Promise<Buffer> {
    if (!this.#child) {
      this.#child = spawn('git', ['-C', this.#folder, ...SAFE, 'cat-file', '--batch'], {
        env: gitEnvironment(this.#context.environment),
      });
      this.#child.stdin.on('error', () => {});
      this.#child.stderr.resume();
      this.#chunks = this.#child.stdout[Symbol.asyncIterator]();
    }
    this.#child.stdin.write(`${blob}\n`);
    const head = (await this.#take(undefined)).toString('utf8');
    const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(head)?.[1] ?? Number.NaN);
    if (!(size <= FILE_BYTES_MAX)) throw this.#broken(blob, head);
    const content = await this.#take(size);
    await this.#take(1);
    return content;
  }

  /** @param bytes Undefined: up to the end of the line, without it. */
  async #take(bytes: number | undefined): Promise<Buffer> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    const isEnough = () => (bytes === undefined ? parts.at(-1)!.includes(10) : length >= bytes);
    while (!isEnough()) {
      const next = await this.#chunks!.next();
      if (next.done) throw this.#broken('its answer', 'it ended early');
      parts.push(next.value);
      length += next.value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    const end = bytes ?? all.indexOf(10);
    this.#rest = all.subarray(bytes === undefined ? end + 1 : end);
    return all.subarray(0, end);
  }

  #broken(what: string, why: string): DrayError {
    return new DrayError('io', `git cat-file cannot read ${what} in ${this.#folder}: ${why}.`, {
      data: { path: this.#folder },
    });
  }
}
