/** Shows the line that ignores a path, adds it on confirmation, and offers Undo. */
import { type IgnoreAdded, ignoreLineOf } from '../../../engine/api/text/ignore-line.ts';
import { ConfirmDialog, Dialog } from '../../design/overlays/dialog.tsx';
import { announceFolderChange } from '../../host/folder-news.ts';
import { useHost, useRefresh } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';

export interface IgnoreDialogProps {
  readonly root: string;
  /** The path of a folder ends in a slash. */
  readonly path: string;
  readonly onClose: () => void;
}

export function IgnoreDialog({ root, path, onClose }: IgnoreDialogProps) {
  const host = useHost();
  const refresh = useRefresh();
  const line = ignoreLineOf(path);
  if (line === undefined)
    return (
      <Dialog title={`${path} cannot be ignored`} isOpen size="small" onClose={onClose}>
        <p>
          Its name has a line break, so no line of .drayignore can match it. Rename it, or ignore its folder.
        </p>
      </Dialog>
    );
  const tellScreens = () => {
    announceFolderChange(root);
    void refresh('browse.open');
  };
  // Errors appear as toasts, because the dialog is closed by then.
  const takeBack = async (added: IgnoreAdded) => {
    try {
      await host.ask('changes.unignore', { root, ...added });
      tellScreens();
    } catch (error) {
      showFailure('The line was not removed', error);
    }
  };
  const addLine = async () => {
    try {
      const added = await host.ask('changes.ignore', { root, path });
      tellScreens();
      showToast({
        tone: 'success',
        title: `${path} is ignored`,
        text: `${added.line} is in .drayignore`,
        action: { label: 'Undo', onPress: () => void takeBack(added) },
      });
    } catch (error) {
      showFailure(`${path} is not ignored`, error);
    }
  };
  return (
    <ConfirmDialog
      title={`Ignore ${path}?`}
      isOpen
      onClose={onClose}
      action="Ignore it"
      onConfirm={() => void addLine()}
    >
      <div className="stack">
        <p>This line is added to .drayignore in {root}:</p>
        <p className="code">{line}</p>
        <p className="soft">
          {path} stays on this computer, and is no longer part of the dataset. If an earlier commit has it,
          the next push records it as deleted.
        </p>
      </div>
    </ConfirmDialog>
  );
}
