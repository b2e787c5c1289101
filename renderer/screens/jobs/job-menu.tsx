/** The context menu of the cards of saved jobs. */
import type { ReactNode } from 'react';
import type { SavedJobCard } from '../../../engine/api/host/saved.ts';
import { ContextMenu } from '../../design/overlays/context-menu.tsx';
import type { MenuAction } from '../../design/overlays/menu.tsx';
import type { JobItemProps } from './job-item.tsx';

export type JobHandlers = Omit<JobItemProps, 'job' | 'isStarted'>;

export interface JobMenuProps {
  readonly jobs: readonly SavedJobCard[];
  readonly handlersOf: (job: SavedJobCard) => JobHandlers;
  /** The cards, which name their job in `data-job`. */
  readonly children: ReactNode;
}

export function JobMenu({ jobs, handlersOf, children }: JobMenuProps) {
  return (
    <ContextMenu
      actionsAt={(element) => {
        const name = element.closest('[data-job]')?.getAttribute('data-job');
        const found = jobs.find((job) => job.name === name);
        return found && { label: `For ${found.name}`, actions: actionsOf(found, handlersOf(found)) };
      }}
    >
      {children}
    </ContextMenu>
  );
}

function actionsOf(
  { state }: SavedJobCard,
  { onEdit, onLog, onPause, onRemove, onRun, onStop }: JobHandlers,
): readonly MenuAction[] {
  const isPaused = state === 'paused';
  return [
    state === 'running'
      ? { id: 'stop', label: 'Stop', icon: 'close', onAction: onStop }
      : { id: 'run', label: 'Run now', icon: 'play', onAction: onRun },
    isPaused
      ? { id: 'resume', label: 'Resume', icon: 'play', onAction: () => onPause(false) }
      : { id: 'pause', label: 'Pause', icon: 'pause', onAction: () => onPause(true) },
    { id: 'edit', label: 'Edit', icon: 'edit', onAction: onEdit },
    { id: 'log', label: 'Log', icon: 'file', onAction: onLog },
    { id: 'remove', label: 'Remove', icon: 'trash', isDanger: true, startsGroup: true, onAction: onRemove },
  ];
}
