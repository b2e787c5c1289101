/**
 * The reference for everything that a history says: commits as dictionaries from path to content, with their
 * parents. A merge is three-way, path by path.
 */
import type { Files } from '../../partial/partial-files.ts';

export interface ModelCommit {
  readonly hash: string;
  readonly parents: readonly string[];
  /** The workspace that wrote it. */
  readonly author: string;
  readonly files: Files;
}

const NO_FILES: Files = new Map();

export class HistoryModel {
  readonly commits = new Map<string, ModelCommit>();
  readonly #ancestors = new Map<string, ReadonlySet<string>>();

  add(commit: ModelCommit): void {
    const ancestors = new Set([commit.hash]);
    for (const parent of commit.parents) for (const one of this.ancestorsOf(parent)) ancestors.add(one);
    this.commits.set(commit.hash, commit);
    this.#ancestors.set(commit.hash, ancestors);
  }

  get(hash: string): ModelCommit {
    const commit = this.commits.get(hash);
    if (!commit) throw new Error(`The model has no commit ${hash}.`);
    return commit;
  }

  filesOf(hash: string | undefined): Files {
    return hash === undefined ? NO_FILES : this.get(hash).files;
  }

  /** With the commit itself. */
  ancestorsOf(hash: string): ReadonlySet<string> {
    const known = this.#ancestors.get(hash);
    if (!known) throw new Error(`The model has no commit ${hash}.`);
    return known;
  }

  /** Whether the commit is in the history of the other. */
  isIn(hash: string, tip: string | undefined): boolean {
    return tip !== undefined && this.ancestorsOf(tip).has(hash);
  }

  /** The best common ancestors: those that are in the history of no other common one. */
  mergeBases(one: string, other: string): readonly string[] {
    const others = this.ancestorsOf(other);
    const common = [...this.ancestorsOf(one)].filter((hash) => others.has(hash));
    return common.filter((hash) => !common.some((later) => later !== hash && this.isIn(hash, later)));
  }

  /** What a merge of both may have at the path: one value, or two if somebody has to decide. */
  mergedAt(one: string, other: string, path: string): readonly (string | undefined)[] {
    const [left, right] = [this.get(one).files.get(path), this.get(other).files.get(path)];
    if (left === right) return [left];
    const bases = this.mergeBases(one, other).map((hash) => this.get(hash).files.get(path));
    if (bases.length === 0) bases.push(undefined);
    if (bases.every((base) => base === left)) return [right];
    if (bases.every((base) => base === right)) return [left];
    return [left, right];
  }

  /** The commits in which the path is other than in each of their parents. */
  changing(tip: string, path: string): ReadonlySet<string> {
    const at = (hash: string) => this.get(hash).files.get(path);
    const isChange = (hash: string) => {
      const { parents } = this.get(hash);
      if (parents.length === 0) return at(hash) !== undefined;
      return parents.every((parent) => at(parent) !== at(hash));
    };
    return new Set([...this.ancestorsOf(tip)].filter(isChange));
  }

  /** The commit itself, its first parent, and so on. */
  firstParents(hash: string): readonly string[] {
    const found = [hash];
    for (const one of found) found.push(...this.get(one).parents.slice(0, 1));
    return found;
  }
}

/** The paths at which both differ. */
export function differing(one: Files, other: Files): string[] {
  const paths = new Set([...one.keys(), ...other.keys()]);
  return [...paths].filter((path) => one.get(path) !== other.get(path)).sort();
}
