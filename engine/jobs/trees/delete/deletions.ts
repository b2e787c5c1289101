/**
 * The deletions of a sync: collected on disk during the copy, then, if nothing failed and they are not too
 * many, removed together. So an incompletely read source never empties its destination. Deletions that items
 * wait for come first.
 */
import { advised, DrayError } from '../../../api/error.ts';
import { formatPlural } from '../../../api/text/numbers.ts';
import { statLocal } from '../../../files/scan/local-place.ts';
import type { SpillList } from '../../../index/tree-spill.ts';
import { deletionAllowed } from '../../../model/deletion-bound.ts';
import { isSameFile, type TreeItem } from '../../../model/tree-item.ts';
import { DESCRIPTOR_KEY } from '../../../repository/keys.ts';
import { allowsRepository } from '../../places/repository-guard.ts';
import { failItem, reportChange, stopRun, type TreeRun } from '../copy-run.ts';
import type { Mover } from '../move/mover.ts';
import { deletionPermission } from '../tree-guard.ts';
import type { Backup } from './backup-folder.ts';
import type { DeferredItems } from './deferred-items.ts';
import { spilledText } from './spilled-text.ts';

const GATHERED_AT_ONCE = 1_000;

export interface Deletes {
  add(item: TreeItem): void;
  /**
   * Deletes, or in a dry run reports what would be deleted. Throws `tooManyDeletes` before the first
   * deletion.
   */
  carryOut(): Promise<void>;
}

export function createDeletes(
  run: TreeRun,
  options: {
    readonly mover: Mover;
    readonly backup: Backup | undefined;
    readonly deferred: DeferredItems | undefined;
    /** Called once deletions are allowed and there is at least one. */
    readonly beforeFirst: () => Promise<void>;
  },
): Deletes {
  let spill: SpillList | undefined;
  let gathered: TreeItem[] = [];
  /** The first repository that the sync would delete without permission. */
  let repository: string | undefined;
  const flush = () => {
    if (gathered.length === 0) return;
    spill ??= run.knowledge.index.spill();
    spill.push(gathered.map(spilledText));
    gathered = [];
  };
  const remove = async (list: SpillList, isMeant: (item: TreeItem) => boolean) => {
    for (const page of list.pages()) {
      run.tasks.check();
      const items = page.map((text) => JSON.parse(text) as TreeItem).filter(isMeant);
      if (items.length > 0) await removePage(run, options, items);
    }
  };
  return {
    add(item) {
      gathered.push(item);
      repository ??= protectedRepository(run, item.path);
      if (gathered.length >= GATHERED_AT_ONCE) flush();
    },
    async carryOut() {
      const { deferred } = options;
      for (const link of deferred?.unseen() ?? []) {
        run.counts.destinationFiles += 1;
        gathered.push(link);
      }
      flush();
      ({ list: spill, repository } = keepOutside(run, { list: spill, repository }));
      if (!spill) return;
      repository ??= await heldRepository(run, spill);
      if (deferred && !deferred.isEmpty) deferred.giveUpBut(itemsOf(run, spill));
      if (run.counts.failed > 0) deferred?.giveUp();
      if (!isAllowed(run, spill.size, repository)) return;
      if (!run.request.dryRun) await options.beforeFirst();
      if (!deferred || deferred.isEmpty) return remove(spill, () => true);
      await remove(spill, (item) => deferred.isAwaited(item));
      await deferred.tryAgain();
      if (!hasArrived(run, spill.size - run.counts.deletedFiles)) return;
      await remove(spill, (item) => !deferred.isAwaited(item));
    },
  };
}

interface Meant {
  readonly list: SpillList | undefined;
  readonly repository: string | undefined;
}

/** Leaves out what the source may lack because it holds a part of a dataset. */
function keepOutside(run: TreeRun, meant: Meant): Meant {
  const { context, destination, parts, request, source } = run;
  if (parts.isEmpty || !meant.list) return meant;
  const list = run.knowledge.index.spill();
  let repository: string | undefined;
  for (const page of meant.list.pages()) {
    run.tasks.check();
    const inside = page.filter((text) => !parts.isOutside((JSON.parse(text) as TreeItem).path));
    for (const text of meant.repository === undefined ? [] : inside)
      repository ??= protectedRepository(run, (JSON.parse(text) as TreeItem).path);
    if (inside.length > 0) list.push(inside);
  }
  const kept = meant.list.size - list.size;
  if (kept > 0) {
    const [files, were] = [formatPlural(kept, 'file'), kept === 1 ? 'was' : 'were'];
    const done = request.dryRun ? 'would not be deleted' : `${were} not deleted`;
    context.emit({
      type: 'warning',
      warning: 'outsidePart',
      ...advised(
        `${source.text} holds a part of a dataset: ${files} outside of it ${done} at ${destination.text}.`,
        'Remove with "dray rm" what is to go there.',
      ),
    });
  }
  return { list: list.size > 0 ? list : undefined, repository };
}

function* itemsOf(run: TreeRun, list: SpillList): Generator<TreeItem> {
  for (const page of list.pages()) {
    run.tasks.check();
    for (const text of page) yield JSON.parse(text) as TreeItem;
  }
}

/** A dry run reports what would stop the real run, and still lists what would be deleted. */
function isAllowed(run: TreeRun, deletes: number, repository: string | undefined): boolean {
  const { counts, destination, request } = run;
  const { maxDelete } = request;
  if (!hasArrived(run, deletes)) return false;
  if (repository !== undefined) {
    refuseRepository(run, deletes, repository);
    return true;
  }
  const { destinationFiles } = counts;
  if (deletionAllowed({ deletes, destinationFiles, ...(maxDelete ? { maxDelete } : {}) })) return true;
  const message = `This sync would delete ${deletes} of ${destinationFiles} files at ${destination.text}, more than it may. Nothing was deleted.`;
  const advice = `If that is intended, allow it with --max-delete ${deletes}.`;
  stopRun(
    run,
    'tooManyDeletes',
    new DrayError('tooManyDeletes', message, { advice, data: { deletes, destinationFiles } }),
  );
  return true;
}

/** Whether everything else has succeeded. @throws `partial` when not; a dry run emits a warning instead */
function hasArrived({ context, counts, request }: TreeRun, deletes: number): boolean {
  if (counts.failed === 0) return true;
  const was = request.dryRun ? 'would be' : 'was';
  const nothing = counts.deletedFiles > 0 ? 'Nothing more' : 'Nothing';
  const message = `${nothing} ${was} deleted at the destination, because ${counts.failed} files failed. Fix the errors and sync again: ${deletes} files are to be deleted.`;
  if (!request.dryRun) throw new DrayError('partial', message, { data: { deletes } });
  context.emit({ type: 'warning', warning: 'nothingDeleted', message });
  return false;
}

/**
 * A repository is deleted only with an explicit bound: a mistyped place would lose it with its whole history.
 */
function refuseRepository(run: TreeRun, deletes: number, repository: string): void {
  const { destination } = run;
  const which = repository === '' ? destination.text : `${repository} at ${destination.text}`;
  const message = `${which} is a repository of Dray, and this sync would delete it with all its versions. Nothing was deleted. Push to it instead, or choose another place.`;
  const advice = `If that is intended, allow it with --max-delete ${deletes}.`;
  const data = { deletes, repository, path: repository };
  stopRun(run, 'deletesRepository', new DrayError('tooManyDeletes', message, { advice, data }));
}

/** As `repositoryOf`, unless the request allows its deletion. */
export function protectedRepository(run: TreeRun, path: string): string | undefined {
  const repository = repositoryOf(path);
  return repository === undefined || mayDelete(run, repository) ? undefined : repository;
}

function mayDelete({ destination, request }: TreeRun, repository: string): boolean {
  const whole = `${destination.text}/${repository}`;
  const name = whole.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  return allowsRepository(deletionPermission(request), name);
}

/**
 * The first repository of the destination that a deletion would change although its descriptor stays, because
 * the source has one too or a filter leaves it out.
 */
async function heldRepository(run: TreeRun, list: SpillList): Promise<string | undefined> {
  const allowed = new Set<string>();
  for (const { path } of itemsOf(run, list)) {
    const repository = run.guard.holderOf(path);
    if (repository !== undefined && !allowed.has(repository)) {
      if (!mayDelete(run, repository) && !(await run.guard.isMirror(repository))) return repository;
      allowed.add(repository);
    }
    const asking = run.guard.before(path);
    if (asking) await asking;
  }
  return undefined;
}

/** '' or ending in `/`; undefined when the path is not a repository's descriptor. */
function repositoryOf(path: string): string | undefined {
  const isDescriptor = path === DESCRIPTOR_KEY || path.endsWith(`/${DESCRIPTOR_KEY}`);
  return isDescriptor ? path.slice(0, -DESCRIPTOR_KEY.length) : undefined;
}

async function removePage(
  run: TreeRun,
  { backup, mover }: { readonly mover: Mover; readonly backup: Backup | undefined },
  items: readonly TreeItem[],
): Promise<void> {
  const failed = new Set<string>();
  const onFailed = (path: string, error: unknown) => {
    failed.add(path);
    failItem(run, path, error);
  };
  if (!run.request.dryRun) {
    for (const item of items) {
      if (!isAnother(run, item)) continue;
      const message = `${item.path} was changed at the destination meanwhile, or by a name that differs in case alone; it was left as it is.`;
      onFailed(item.path, new DrayError('conflict', message, { data: { path: item.path } }));
    }
    for (const item of backup ? items : []) {
      if (failed.has(item.path)) continue;
      await backup!.keep(item).catch((error: unknown) => onFailed(item.path, error));
    }
    const paths = items.map(({ path }) => path).filter((path) => !failed.has(path));
    await mover.remove(paths, onFailed);
    run.knowledge.forget(paths);
  }
  for (const item of items) {
    if (failed.has(item.path)) continue;
    run.counts.deletedFiles += 1;
    reportChange(run, 'deleted', item);
  }
}

/**
 * Whether a local file has changed since the walk. Another program may have written it. Or this run did, on a
 * file system that takes two names for one: `Photo.jpg` was copied over `photo.jpg`, which the source does
 * not have.
 */
function isAnother({ destination }: TreeRun, item: TreeItem): boolean {
  if (destination.kind === 'remote' || item.special) return false;
  try {
    const now = statLocal(destination.root, destination.pathOf(item.path), { links: true });
    return typeof now === 'object' && !isSameFile(now, item);
  } catch {
    // Without the right to read the folder the removal fails as well, with the reason.
    return false;
  }
}
