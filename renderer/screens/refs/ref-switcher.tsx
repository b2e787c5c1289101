/** Shows the current branch of a workspace, and a list to switch it. The open list reads the remote. */
import './refs.css';
import { lazy, Suspense, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { Icon } from '../../design/icon.tsx';
import type { RefTask } from './ref-task.ts';

const RefList = lazy(async () => ({ default: (await import('./ref-list.tsx')).RefList }));
const RefDialog = lazy(async () => ({ default: (await import('./ref-dialogs.tsx')).RefDialog }));

export interface RefSwitcherProps {
  readonly root: string;
  /** Undefined while it is unknown. */
  readonly branch: string | undefined;
  /** What the folder is in the middle of, such as "merging". */
  readonly midway?: string | undefined;
  /** Opened from outside, such as by the palette. */
  readonly isOpen?: boolean;
  readonly onOpenChange?: (isOpen: boolean) => void;
}

export function RefSwitcher({ root, branch, midway, isOpen, onOpenChange }: RefSwitcherProps) {
  const [isOpenHere, setOpenHere] = useState(false);
  const [task, setTask] = useState<RefTask>();
  const setOpen = (open: boolean): void => {
    setOpenHere(open);
    onOpenChange?.(open);
  };
  return (
    <>
      <DialogTrigger isOpen={isOpen ?? isOpenHere} onOpenChange={setOpen}>
        <AriaButton
          className="button button-quiet button-small ref-switcher"
          aria-label={`Branch ${branch ?? ''}${midway === undefined ? '' : ` ${midway}`}`}
        >
          <Icon name="branch" />
          <span className="cut">{branch}</span>
          {/* The space belongs to the name that is read out. */}
          {midway !== undefined && <span className="ref-midway cut"> {midway}</span>}
          <Icon name="chevronDown" size={12} />
        </AriaButton>
        {/* Its own dialog: one inside of it would leave the hidden buttons that close it outside. */}
        <Popover
          className="popover version-popover"
          aria-label="Branches and tags"
          offset={4}
          placement="bottom start"
        >
          <Suspense>
            <RefList
              root={root}
              branch={branch}
              onTask={(next) => {
                setOpen(false);
                setTask(next);
              }}
              onLeave={() => setOpen(false)}
            />
          </Suspense>
        </Popover>
      </DialogTrigger>
      {task && (
        <Suspense>
          <RefDialog root={root} task={task} onClose={() => setTask(undefined)} onNext={setTask} />
        </Suspense>
      )}
    </>
  );
}
