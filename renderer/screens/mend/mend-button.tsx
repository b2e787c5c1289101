/** The button beside an error of a workspace's repository that is damaged or too old for what was asked. */
import { useState } from 'react';
import { Button } from '../../design/controls/button.tsx';
import type { Failed } from '../../failures/failed.ts';
import { RepairDialog } from './repair-dialog.tsx';
import { UpgradeDialog } from './upgrade-dialog.tsx';

export interface MendButtonProps {
  readonly error: Failed;
  readonly name: string;
  /** The workspace whose remote it is. */
  readonly root: string;
  /** The repository was upgraded. */
  readonly onUpgraded: () => void;
}

/** Nothing for other errors. */
export function MendButton({ error: { code, data = {} }, onUpgraded, ...of }: MendButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  if (data.reason === 'notUpgraded')
    return (
      <>
        <Button size="small" onPress={() => setOpen(true)}>
          Upgrade...<span className="unseen"> {of.name}</span>
        </Button>
        {isOpen && (
          <UpgradeDialog
            {...of}
            onClose={close}
            onUpgraded={() => {
              close();
              onUpgraded();
            }}
          />
        )}
      </>
    );
  return code === 'damaged' && data.reason === 'verified' ? <RepairButton {...of} /> : null;
}

export function RepairButton(of: Pick<MendButtonProps, 'name' | 'root'>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="small" onPress={() => setOpen(true)}>
        Repair...<span className="unseen"> {of.name}</span>
      </Button>
      {isOpen && <RepairDialog {...of} onClose={() => setOpen(false)} />}
    </>
  );
}
