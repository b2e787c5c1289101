/**
 * The choices of the Changes screen: `changes/HASH.json` in the user's folder, one small file for each
 * workspace. Changes are collected for `SETTLE_MS`, so fast typing costs one write.
 */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { type Choices, NO_CHOICES, readChoices, recordChoices } from '../../api/host/change-choices.ts';
import { CHOICE_PATHS_MAX, type ChoicesRecord, type KeptLook } from '../../api/host/changes.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';
import { change, changesLook, winner } from '../port/host-inputs.ts';

const SETTLE_MS = 200;
/** The least recently written files are removed first. */
const FILES_MAX = 256;
/** The most workspaces in memory. */
const HELD_MAX = 32;

export interface Kept {
  readonly message: string;
  readonly looks: { readonly push?: KeptLook; readonly pull?: KeptLook };
  /** The deletions that the person has seen. */
  readonly seen?: { readonly push?: number; readonly pull?: number };
  readonly push: Choices;
  readonly pull: Choices;
  /** The commit and the number of conflicts for which the decisions of `pull` were made. */
  readonly pullOf?: { readonly commit?: string; readonly conflicts: number };
}

export interface ChoicesFile {
  read(root: string): Kept;
  /** Writes to disk within `SETTLE_MS`. */
  write(root: string, kept: Kept): void;
  /** Writes all pending changes now. @throws `io` */
  flush(): void;
}

const LOOK = v.object(changesLook.entries);
const SKIPPED = v.object({
  path: v.string(),
  change,
  rows: v.number(),
  deleted: v.number(),
  bytes: v.number(),
  fromPath: v.exactOptional(v.string()),
});
const CHOICES = v.object({
  skipped: v.pipe(v.array(SKIPPED), v.maxLength(CHOICE_PATHS_MAX)),
  decided: v.array(v.tuple([v.string(), winner])),
  forAll: v.exactOptional(winner),
});
const SCHEMA = v.object({
  root: v.string(),
  message: v.string(),
  looks: v.object({ push: v.exactOptional(LOOK), pull: v.exactOptional(LOOK) }),
  seen: v.exactOptional(v.object({ push: v.exactOptional(v.number()), pull: v.exactOptional(v.number()) })),
  push: CHOICES,
  pull: CHOICES,
  pullOf: v.exactOptional(v.object({ commit: v.exactOptional(v.string()), conflicts: v.number() })),
});

const NOTHING: Kept = { message: '', looks: {}, push: NO_CHOICES, pull: NO_CHOICES };

export function openChoicesFile(folder: string): ChoicesFile {
  const files = join(folder, 'changes');
  const held = new Map<string, { kept: Kept; stamp: string }>();
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const write = (root: string) => {
    const { kept } = held.get(root)!;
    const path = join(files, nameOf(root));
    if (isNothing(kept)) rmSync(path, { force: true });
    else {
      const { pull, push, ...rest } = kept;
      const record: { readonly push: ChoicesRecord; readonly pull: ChoicesRecord } = {
        push: recordChoices(push),
        pull: recordChoices(pull),
      };
      const isNew = stampOf(path) === '';
      writeJsonFile(path, { root, ...rest, ...record });
      if (isNew) dropOldest(files);
    }
    held.set(root, { kept, stamp: stampOf(path) });
    waiting.delete(root);
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const root of [...waiting]) write(root);
  };
  return {
    read(root) {
      const path = join(files, nameOf(root));
      const known = held.get(root);
      // Another process of this user may have written it since.
      if (known && (waiting.has(root) || known.stamp === stampOf(path))) return known.kept;
      const stamp = stampOf(path);
      const found = readJsonFile(path, SCHEMA);
      const kept = found?.root === root ? keptOf(found) : NOTHING;
      held.set(root, { kept, stamp });
      const [oldest] = held.keys();
      if (held.size > HELD_MAX && !waiting.has(oldest!)) held.delete(oldest!);
      return kept;
    },
    write(root, kept) {
      held.set(root, { kept, stamp: held.get(root)?.stamp ?? '' });
      waiting.add(root);
      timer ??= setTimeout(() => {
        try {
          flush();
        } catch {
          // After an error, such as a full disk, the next change tries again.
          timer = undefined;
        }
      }, SETTLE_MS);
    },
    flush,
  };
}

function keptOf({ pull, push, root: _, ...rest }: v.InferOutput<typeof SCHEMA>): Kept {
  return { ...rest, push: readChoices(push), pull: readChoices(pull) };
}

function isNothing({ looks, message, pull, push, seen }: Kept): boolean {
  const isEmpty = ({ decided, forAll, skipped }: Choices) =>
    decided.size === 0 && skipped.size === 0 && forAll === undefined;
  const isUnseen = seen?.push === undefined && seen?.pull === undefined;
  return message === '' && !looks.push && !looks.pull && isUnseen && isEmpty(push) && isEmpty(pull);
}

function nameOf(root: string): string {
  return `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.json`;
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
}

function dropOldest(files: string): void {
  const names = readdirSync(files).filter((name) => name.endsWith('.json'));
  if (names.length <= FILES_MAX) return;
  const aged = names.map((name) => {
    const path = join(files, name);
    return { path, mtimeMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  aged.sort((a, b) => a.mtimeMs - b.mtimeMs);
  for (const { path } of aged.slice(0, names.length - FILES_MAX)) rmSync(path, { force: true });
}
