/** Runs the job of an order. Each job resumes when it runs again. */
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { TransferOrder } from '../../api/host/transfers.ts';
import type {
  CollectSummary,
  JobContext,
  PullSummary,
  PushSummary,
  RestoreSummary,
  VerifySummary,
} from '../../api/jobs/jobs.ts';
import type { MergeSummary } from '../../api/jobs/merge.ts';
import type { RepairSummary } from '../../api/jobs/repair.ts';
import type { ScopeSummary } from '../../api/jobs/scope.ts';
import type { FilterRule, TransferSummary, TreePairRequest } from '../../api/jobs/trees.ts';
import { formatHash, formatPlural } from '../../api/text/numbers.ts';
import { trimEnd } from '../../api/text/trim-ends.ts';
import { readWorkspaceCard } from '../workspace-card.ts';

export type TransferOutcome =
  | PushSummary
  | PullSummary
  | RestoreSummary
  | MergeSummary
  | VerifySummary
  | CollectSummary
  | RepairSummary
  | ScopeSummary
  | TransferSummary;

/** @param onWorkspace Called once the folder of a clone is a workspace, which remains if the clone fails. */
export async function runTransfer(
  order: TransferOrder,
  contextIn: (directory: string) => JobContext,
  onWorkspace: (root: string) => void,
): Promise<TransferOutcome> {
  switch (order.kind) {
    case 'clone': {
      const { cloneWorkspace } = await import('../../jobs/pull/clone.ts');
      const { kind: _kind, root, ...request } = order;
      return cloneWorkspace(contextIn(dirname(root)), { ...request, directory: root }, onWorkspace);
    }
    case 'push': {
      const { push } = await import('../../jobs/push/push.ts');
      const { allowEmptied = false, message, root, skip } = order;
      return push(contextIn(root), {
        ...(allowEmptied ? { allowEmptied } : {}),
        ...(message === undefined || message === '' ? {} : { message }),
        ...(skip === undefined ? {} : { skip }),
      });
    }
    case 'pull': {
      const { pull } = await import('../../jobs/pull/pull.ts');
      const { kind: _kind, root, ...request } = order;
      return pull(contextIn(root), request);
    }
    case 'restore': {
      const { restore } = await import('../../jobs/working-copy/restore.ts');
      const { kind: _kind, root, ...request } = order;
      return restore(contextIn(root), request);
    }
    case 'scope': {
      const { scope } = await import('../../jobs/scope/scope.ts');
      const { only, root } = order;
      return scope(contextIn(root), only ? { action: 'only', patterns: only } : { action: 'clear' });
    }
    case 'switch': {
      const { switchBranch } = await import('../../jobs/pull/switch.ts');
      return switchBranch(contextIn(order.root), { name: order.branch });
    }
    case 'merge': {
      const { merge } = await import('../../jobs/merge/merge.ts');
      const { kind: _kind, root, ...request } = order;
      return merge(contextIn(root), request);
    }
    case 'revert': {
      const { revert } = await import('../../jobs/merge/revert.ts');
      const { kind: _kind, root, ...request } = order;
      return revert(contextIn(root), request);
    }
    case 'abortMerge': {
      const context = contextIn(order.root);
      if (order.of === 'merge')
        return (await import('../../jobs/merge/merge.ts')).merge(context, { abort: true });
      return (await import('../../jobs/merge/revert.ts')).revert(context, { abort: true });
    }
    case 'verify': {
      const { verifyAndRecord } = await import('../../jobs/history/last-verified.ts');
      return verifyAndRecord(contextIn(order.root), {});
    }
    case 'repair': {
      const { repair } = await import('../../jobs/repair/repair.ts');
      return repair(contextIn(order.root), {});
    }
    case 'gc': {
      const { collectGarbage } = await import('../../jobs/collect/collect.ts');
      const { kind: _kind, root, ...request } = order;
      return collectGarbage(contextIn(root), request);
    }
    case 'copy':
    case 'sync': {
      const { copyTree, syncTree } = await import('../../jobs/trees/copy-tree.ts');
      const request = requestOf(order);
      // As in Browse: `NAME:` must not depend on the folder in which the window was started.
      const context = contextIn(homedir());
      const allowed = { ...request, allowRepositories: order.confirmed ?? [] };
      if (order.kind === 'copy') return copyTree(context, allowed);
      const { maxDelete } = order;
      return syncTree(context, {
        ...allowed,
        ...(maxDelete === undefined ? {} : { maxDelete: { files: maxDelete } }),
        deletableRepositories: order.confirmed ?? [],
      });
    }
  }
}

/**
 * Checks that the destination is not inside a repository, whose stored objects a copy could overwrite. A sync
 * checks its deletions itself.
 * @throws `conflict` with `repository`, the name that the user must confirm
 */
export async function checkDestination(
  { confirmed = [], destination }: CopyOrder,
  context: JobContext,
): Promise<void> {
  const { checkRepositories } = await import('../../jobs/places/repository-guard.ts');
  await checkRepositories(context, { places: [destination], isBelowToo: false, confirmed });
}

/** Removes the partial uploads of a cancelled transfer. */
export async function cleanUpAfter(
  order: TransferOrder,
  contextIn: (directory: string) => JobContext,
): Promise<void> {
  switch (order.kind) {
    case 'push': {
      const { dropPushUploads } = await import('../../jobs/one-place/drop-uploads.ts');
      return dropPushUploads(contextIn(order.root));
    }
    case 'copy':
    case 'sync': {
      const { dropTreeUploads } = await import('../../jobs/one-place/drop-uploads.ts');
      return dropTreeUploads(contextIn(homedir()), requestOf(order));
    }
    case 'clone':
    case 'pull':
    case 'restore':
    case 'scope':
    case 'switch':
    case 'merge':
    case 'revert':
    case 'abortMerge':
    case 'verify':
      // Their partial files are in the workspace's own folder, and the next run removes them.
      return;
    case 'repair':
      // What it has stored stays: the next one finds less to do.
      return;
    case 'gc':
      // The next collection goes on where this one was stopped.
      return;
  }
}

type CopyOrder = Extract<TransferOrder, { source: string }>;

function requestOf(order: CopyOrder): TreePairRequest {
  const ends = { source: { place: order.source }, destination: { place: order.destination } };
  if (order.kind === 'sync') return ends;
  if (order.names) return { ...ends, filter: { filesFrom: order.names } };
  const rules = rulesOf(order);
  return rules.length === 0 ? ends : { ...ends, filter: { rules } };
}

/** The filter applies to the names of the folder's own entries, and includes everything below a match. */
function rulesOf({ except = [], filter = '' }: CopyOrder & { readonly kind: 'copy' }): FilterRule[] {
  const excluded = except.map(
    (path): FilterRule => ({ action: 'exclude', pattern: `/${escapePattern(path)}` }),
  );
  if (filter === '') return excluded;
  const part = [...filter].map(anyCase).join('');
  return [
    ...excluded,
    { action: 'include', pattern: `/*${part}*` },
    { action: 'include', pattern: `/*${part}*/**` },
    { action: 'exclude', pattern: '**' },
  ];
}

function anyCase(character: string): string {
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()].map(escapePattern));
  return cases.size === 1 ? escapePattern(character) : `{${[...cases].join(',')}}`;
}

function escapePattern(text: string): string {
  return text.replace(/[*?[\]{}\\,]/g, '\\$&');
}

/**
 * Two transfers with the same key never run at once, because one would wait for the other's lock or overwrite
 * its files.
 */
export function busyKeyOf(order: TransferOrder): string {
  return 'root' in order ? order.root : order.destination;
}

/** The place under which the usage file records the requests of the transfer. */
export function billedPlaceOf(order: TransferOrder, environment: JobContext['environment']): string {
  if (order.kind === 'clone') return order.url;
  if (!('root' in order)) return `${order.source} to ${order.destination}`;
  const remote = readWorkspaceCard(order.root, { environment }).remotes.find(({ isDefault }) => isDefault);
  return remote?.url ?? order.root;
}

export function titleOf(order: TransferOrder): string {
  switch (order.kind) {
    case 'clone':
      return `Clone ${lastPart(order.root)}`;
    case 'push':
    case 'pull':
      return `${order.kind === 'push' ? 'Push' : 'Pull'} ${lastPart(order.root)}`;
    case 'restore': {
      const [first = ''] = order.paths;
      if (order.paths.length === 1 && first === '.') return `Restore a version of ${lastPart(order.root)}`;
      const more = order.paths.length - 1;
      return `Restore ${lastPart(first)}${more > 0 ? ` and ${more} more` : ''}`;
    }
    case 'scope':
      return `Change what ${lastPart(order.root)} holds`;
    case 'switch':
      return `Switch ${lastPart(order.root)} to ${order.branch}`;
    case 'merge':
      return `Merge ${shortRef(order.ref)} into ${lastPart(order.root)}`;
    case 'revert':
      return `Revert ${shortRef(order.ref)} in ${lastPart(order.root)}`;
    case 'abortMerge':
      return `Take back the ${order.of} in ${lastPart(order.root)}`;
    case 'verify':
      return `Verify ${lastPart(order.root)}`;
    case 'repair':
      return `Repair ${lastPart(order.root)}`;
    case 'gc':
      return `Collect garbage of ${lastPart(order.root)}`;
    case 'copy':
    case 'sync':
      return titleOfCopy(order);
  }
}

/** A whole hash is too long to read; names stay as they are. */
function shortRef(ref: string): string {
  return /^[0-9a-f]{64}$/.test(ref) ? formatHash(ref) : ref;
}

/** Names the destination only if its name differs. */
function titleOfCopy(order: CopyOrder): string {
  const [from, to] = [lastPart(order.source), lastPart(order.destination)];
  if (order.kind === 'copy' && order.names)
    return `Copy ${formatPlural(order.names.length, 'file')} of ${from} to ${to}`;
  if (order.kind === 'copy' && order.filter)
    return `Copy entries with "${order.filter}" in their names from ${from} to ${to}`;
  const verb = order.kind === 'copy' ? 'Copy' : 'Sync';
  return from === to ? `${verb} ${from}` : `${verb} ${from} to ${to}`;
}

function lastPart(place: string): string {
  const [path = ''] = place.split('?', 1);
  return trimEnd(path, '/\\').split(/[/\\]/).at(-1) || place;
}
