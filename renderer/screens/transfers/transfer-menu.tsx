/** The context menu of the transfers in the queue and of those that have ended. */
import type { ReactNode } from 'react';
import type { Transfer, TransferOrder } from '../../../engine/api/host/transfers.ts';
import { ContextMenu } from '../../design/overlays/context-menu.tsx';
import type { MenuAction } from '../../design/overlays/menu.tsx';
import { failureWords } from '../../failures/failure-words.ts';
import { goTo } from '../../route.ts';
import { copyText } from '../../shell/copy-text.ts';
import { jobOfChanges } from '../jobs/job-of-changes.ts';
import { ACTIONS, actionsFor, type TransferAction } from './transfer-words.ts';

export interface TransferMenuProps {
  readonly transfers: readonly Transfer[];
  readonly onAction: (transfer: Transfer, action: TransferAction) => void;
  /** The lists, whose rows name their transfer in `data-transfer`. */
  readonly children: ReactNode;
}

export function TransferMenu({ transfers, onAction, children }: TransferMenuProps) {
  return (
    <ContextMenu
      actionsAt={(element) => {
        const row = element.closest('.transfer-item')?.querySelector('[data-transfer]');
        const found = transfers.find(({ id }) => id === row?.getAttribute('data-transfer'));
        return found && { label: `For ${found.title}`, actions: menuOf(found, onAction) };
      }}
    >
      {children}
    </ContextMenu>
  );
}

function menuOf(transfer: Transfer, onAction: TransferMenuProps['onAction']): readonly MenuAction[] {
  const own = actionsFor(transfer).map((action) => ({
    id: action,
    ...ACTIONS[action],
    onAction: () => onAction(transfer, action),
  }));
  const copies = placesOf(transfer.order).map(({ label, place }, at) => ({
    id: label,
    label,
    icon: 'copy' as const,
    startsGroup: at === 0,
    onAction: () => void copyText(place, 'the place'),
  }));
  const { error } = transfer;
  return [
    ...own,
    ...jobActions(transfer.order),
    ...copies,
    ...(error
      ? [
          {
            id: 'error',
            label: 'Copy the error',
            icon: 'copy' as const,
            onAction: () => void copyText(`${error.code}: ${failureWords(error)}`, 'the error'),
          },
        ]
      : []),
    ...revealActions(transfer.order),
  ];
}

/** None for a choice of names, which a job cannot keep. */
function jobActions(order: TransferOrder): readonly MenuAction[] {
  const given = jobOf(order);
  if (!given) return [];
  const onAction = () => goTo('jobs', given);
  return [{ id: 'job', label: 'Save as a job...', icon: 'jobs', startsGroup: true, onAction }];
}

function jobOf(order: TransferOrder): Readonly<Record<string, string>> | undefined {
  switch (order.kind) {
    case 'copy':
    case 'sync': {
      const { destination, kind, source } = order;
      const isPart = order.kind === 'copy' && !!(order.names ?? order.filter ?? order.except);
      return isPart ? undefined : { add: 'yes', kind, source, destination };
    }
    case 'push':
    case 'pull':
      return jobOfChanges(order.root, order.kind, order.kind === 'push' ? order.message : undefined);
    case 'verify':
    case 'gc':
      return { add: 'yes', kind: order.kind, root: order.root };
    default:
      return undefined;
  }
}

function placesOf(order: TransferOrder): readonly { readonly label: string; readonly place: string }[] {
  switch (order.kind) {
    case 'copy':
    case 'sync':
      return [
        { label: 'Copy the source', place: order.source },
        { label: 'Copy the destination', place: order.destination },
      ];
    case 'clone':
      return [
        { label: 'Copy the URL', place: order.url },
        { label: 'Copy the path', place: order.root },
      ];
    default:
      return [{ label: 'Copy the path', place: order.root }];
  }
}

/** The places on this computer, in the desktop app alone. */
function revealActions(order: TransferOrder): readonly MenuAction[] {
  const reveal = window.dray?.reveal;
  const places = 'root' in order ? [order.root] : [order.source, order.destination];
  const local = places.findLast((place) => /^(\/|[A-Za-z]:[\\/])/.test(place));
  if (!reveal || local === undefined) return [];
  const path = local.length > 1 ? local.replace(/[\\/]$/, '') : local;
  const label = 'Show in the file manager';
  return [{ id: 'reveal', label, icon: 'folder', onAction: () => void reveal(path) }];
}
