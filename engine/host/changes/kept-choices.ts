/**
 * The choices, the message and the view settings of each workspace's Changes screen. The engine stores them,
 * so they outlive the page and the process. A window has a copy and sends each change. Each change of choices
 * increments `version`. Windows listen to it, so each shows the choices of the others.
 */
import { DrayError } from '../../api/error.ts';
import {
  type Choices,
  chosenPaths,
  decide,
  decideAll,
  includePath,
  keepChoices,
  NO_CHOICES,
  recordChoices,
  skippedPaths,
  skipRows,
} from '../../api/host/change-choices.ts';
import {
  CHOICE_PATHS_MAX,
  type ChangeList,
  type KeptChanges,
  type KeptChoices,
  type KeptLook,
  type Winner,
} from '../../api/host/changes.ts';
import type { TransferOrder } from '../../api/host/transfers.ts';
import { formatCount } from '../../api/text/numbers.ts';
import { type Kept, openChoicesFile } from '../user-files/choices-file.ts';
import type { RowList } from './row-list.ts';

/** The most paths in one answer: some 200 KB, which a page parses within a few milliseconds. */
const PAGE_PATHS = 2_000;

type Direction = ChangeList['direction'];

export interface Choice {
  /** Paths to exclude. `include` undoes it. */
  readonly skip?: readonly string[];
  readonly include?: readonly string[];
  readonly decide?: readonly (readonly [path: string, winner: Winner])[];
  readonly forAll?: Winner;
}

export interface KeptChoicesStore {
  /** A page of the choices, from `offset` on. */
  choices(root: string, direction: Direction, offset?: number): KeptChoices;
  /** The state for a window that opens a list. Drops the choices whose rows the list no longer has. */
  open(root: string, list: ChangeList, rows: RowList): KeptChanges;
  /** Returns the new version. @throws `usage` if too many paths are excluded. */
  choose(root: string, direction: Direction, rows: RowList, choice: Choice): number;
  keep(root: string, direction: Direction, parts: KeptParts): void;
  /** Passes the version at once and after each change. @returns A function that ends it. */
  listen(root: string, onVersion: (version: number) => void): () => void;
  /** The paths that a push now excludes. */
  skipped(root: string): Choices;
  /**
   * The transfer that a window starts. @throws `conflict` if the choices are newer than the shown version.
   */
  order(shown: ShownChoices): TransferOrder;
  /** Removes the choices that a finished transfer has used. */
  used(order: TransferOrder): void;
  flush(): void;
}

interface KeptParts {
  readonly message?: string;
  readonly look?: KeptLook;
  readonly seen?: number | null;
}

export interface ShownChoices {
  readonly root: string;
  readonly direction: Direction;
  readonly version: number;
  readonly message?: string;
  readonly commit?: string;
}

export function createKeptChoices(folder: string): KeptChoicesStore {
  const file = openChoicesFile(folder);
  const versions = new Map<string, number>();
  const versionOf = (root: string) => versions.get(root) ?? 0;
  const listeners = new Set<(root: string) => void>();
  const change = (root: string, direction: Direction, choices: Choices): number => {
    file.write(root, { ...file.read(root), [direction]: choices });
    versions.set(root, versionOf(root) + 1);
    for (const listener of listeners) listener(root);
    return versionOf(root);
  };
  const choicesOf = (root: string, direction: Direction, offset = 0): KeptChoices => ({
    version: versionOf(root),
    ...pageOf(file.read(root)[direction], offset),
  });
  return {
    choices: choicesOf,
    open(root, list, rows) {
      const { direction } = list;
      const kept = file.read(root);
      const before = kept[direction];
      const found = rows.find(chosenPaths(before));
      const now = keepChoices(before, found, direction === 'push' || isSameConflicts(kept, list));
      if (direction === 'pull') file.write(root, { ...kept, pullOf: factsOf(list) });
      if (hasFewer(now, before)) change(root, direction, now);
      const look = kept.looks[direction];
      const seen = kept.seen?.[direction];
      return {
        message: kept.message,
        ...(look ? { look } : {}),
        ...(seen === undefined ? {} : { seen }),
        choices: choicesOf(root, direction),
      };
    },
    choose(root, direction, rows, choice) {
      const next = applyChoice(file.read(root)[direction], rows, choice);
      if (skippedPaths(next).length > CHOICE_PATHS_MAX) throw tooMany();
      return change(root, direction, next);
    },
    keep(root, direction, { look, message, seen }) {
      const kept = file.read(root);
      file.write(root, {
        ...(seen === undefined ? kept : withSeen(kept, direction, seen)),
        ...(message === undefined ? {} : { message }),
        ...(look === undefined ? {} : { looks: { ...kept.looks, [direction]: look } }),
      });
    },
    listen(root, onVersion) {
      const listener = (changed: string) => {
        if (changed === root) onVersion(versionOf(root));
      };
      listeners.add(listener);
      listener(root);
      return () => listeners.delete(listener);
    },
    skipped: (root) => file.read(root).push,
    order({ commit, direction, message = '', root, version }) {
      if (version !== versionOf(root)) throw changedElsewhere();
      const choices = file.read(root)[direction];
      return direction === 'push' ? pushOrder(root, message, choices) : pullOrder(root, commit, choices);
    },
    used(order) {
      if (order.kind === 'push') {
        const { root, message, skip } = order;
        const kept = file.read(root);
        const sent = new Set(skip);
        const left = [...kept.push.skipped].filter(([path]) => !sent.has(path));
        // A message that was edited while the push ran is kept for the next push.
        const isSent = kept.message.trim() === (message ?? '');
        file.write(root, {
          ...withSeen(kept, 'push', null),
          looks: unfiltered(kept, 'push'),
          message: isSent ? '' : kept.message,
        });
        if (sent.size > 0) change(root, 'push', { ...kept.push, skipped: new Map(left) });
      } else if (order.kind === 'pull') {
        const { root } = order;
        const kept = file.read(root);
        file.write(root, { ...withSeen(kept, 'pull', null), looks: unfiltered(kept, 'pull') });
        change(root, 'pull', NO_CHOICES);
      }
    },
    flush: file.flush,
  };
}

/** Excluded paths come before decisions. */
function pageOf({ decided, forAll, skipped }: Choices, offset: number): Omit<KeptChoices, 'version'> {
  const end = offset + PAGE_PATHS;
  const within = (at: number) => Math.max(0, at - skipped.size);
  const page = {
    skipped: new Map([...skipped].slice(offset, end)),
    decided: new Map([...decided].slice(within(offset), within(end))),
    forAll,
  };
  const isLast = end >= skipped.size + decided.size;
  return { ...recordChoices(page), ...(isLast ? {} : { next: end }) };
}

function applyChoice(before: Choices, rows: RowList, choice: Choice): Choices {
  let next = before;
  for (const path of choice.include ?? []) next = includePath(next, path);
  if (choice.skip) next = skipRows(next, rows.find(choice.skip));
  if (choice.forAll) next = decideAll(next, choice.forAll);
  for (const [path, winner] of choice.decide ?? []) next = decide(next, path, winner);
  return next;
}

function hasFewer(now: Choices, before: Choices): boolean {
  return (
    now.skipped.size < before.skipped.size ||
    now.decided.size < before.decided.size ||
    now.forAll !== before.forAll
  );
}

/** Clears the filter, because it was set for rows that are gone and may hide the next ones. */
function unfiltered({ looks }: Kept, direction: Direction): Kept['looks'] {
  const look = looks[direction];
  return look ? { ...looks, [direction]: { ...look, filter: '', kinds: [] } } : looks;
}

/** Deletions that were carried out are seen no more: the same ones may come again. */
function withSeen(kept: Kept, direction: Direction, seen: number | null): Kept {
  const { [direction]: _, ...others } = kept.seen ?? {};
  return { ...kept, seen: seen === null ? others : { ...others, [direction]: seen } };
}

function factsOf({ commit, conflicts }: ChangeList): NonNullable<Kept['pullOf']> {
  return { conflicts, ...(commit === undefined ? {} : { commit }) };
}

function isSameConflicts({ pullOf }: Kept, { commit, conflicts }: ChangeList): boolean {
  return pullOf?.commit === commit && pullOf?.conflicts === conflicts;
}

function pushOrder(root: string, message: string, choices: Choices): TransferOrder {
  const skip = skippedPaths(choices);
  return {
    kind: 'push',
    root,
    ...(message.trim() === '' ? {} : { message: message.trim() }),
    ...(skip.length === 0 ? {} : { skip }),
  };
}

function pullOrder(root: string, commit: string | undefined, { decided, forAll }: Choices): TransferOrder {
  return {
    kind: 'pull',
    root,
    // Pulls the commit that was shown, even if the branch has moved since.
    ...(commit === undefined ? {} : { ref: commit }),
    ...(forAll === undefined ? {} : { conflicts: forAll }),
    ...(decided.size === 0 ? {} : { decisions: Object.fromEntries(decided) }),
  };
}

function changedElsewhere(): DrayError {
  const message =
    'The choices were changed in another window. This window shows them now. Review them, then start again.';
  return new DrayError('conflict', message, { data: { choices: 'changed' } });
}

function tooMany(): DrayError {
  const most = formatCount(CHOICE_PATHS_MAX);
  return new DrayError('usage', `At most ${most} paths can be excluded. Exclude a folder instead.`);
}
