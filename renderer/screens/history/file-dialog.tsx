/** One file of a commit, beside its version in another commit, with buttons to restore it. */
import './history.css';
import { useState } from 'react';
import type { FilePreview } from '../../../engine/api/host/file-preview.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Loading } from '../../design/states.tsx';
import { ErrorState } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { FilePreviewView, PREVIEW_HELD_MS } from '../preview/file-preview.tsx';
import { FileSides } from '../preview/file-sides.tsx';
import { versionName } from '../refs/ref-task.ts';
import { type FileAt, RestoreDialog } from './restore-dialog.tsx';
import { useForgottenNews } from './use-forgotten-news.ts';

export interface FileDialogProps {
  readonly root: string;
  /** At least one of the two. If both are given, they are compared. */
  readonly before?: FileAt | undefined;
  readonly after?: FileAt | undefined;
  readonly onClose: () => void;
}

export function FileDialog({ root, before, after, onClose }: FileDialogProps) {
  const [restoring, setRestoring] = useState<FileAt>();
  const older = useSide(root, before);
  const newer = useSide(root, after);
  const shown = (after ?? before)!;
  const sides = [older, newer].filter((side) => side !== undefined);
  const error = sides.find((side) => side.error)?.error;
  const isReady = sides.every((side) => side.data);
  useForgottenNews(error);
  if (restoring) return <RestoreDialog root={root} file={restoring} onClose={onClose} />;
  return (
    <Dialog
      title={shown.path}
      isOpen
      onClose={onClose}
      size="large"
      actions={
        <>
          <Button onPress={onClose}>Close</Button>
          {before && after && (
            <Button icon="history" onPress={() => setRestoring(before)}>
              Restore the one before
            </Button>
          )}
          <Button look="primary" icon="history" onPress={() => setRestoring(shown)}>
            {before && after ? 'Restore the one after' : 'Restore this file'}
          </Button>
        </>
      }
    >
      {error ? (
        <ErrorState
          title="Cannot read the file"
          error={error}
          onRetry={() => void Promise.all(sides.map((side) => side.refetch()))}
        />
      ) : !isReady ? (
        <Loading label="Reading the file" />
      ) : before && after ? (
        <div className="file-sides">
          <FileSides
            before={older?.data}
            after={newer?.data}
            titles={{
              before: `Before, in ${nameOf(before, after)}`,
              after: `After, in ${nameOf(after, before)}`,
            }}
          />
        </div>
      ) : (
        <div className="stack">
          <p className="soft">
            As it was in <span className="code">{versionName(shown.commit)}</span>.
          </p>
          <FilePreviewView preview={(newer ?? older)?.data as FilePreview} name={shown.path} />
        </div>
      )}
    </Dialog>
  );
}

/** Both sides name a renamed file. */
function nameOf({ commit, path }: FileAt, other: FileAt): string {
  return path === other.path ? versionName(commit) : `${versionName(commit)} as ${path}`;
}

function useSide(root: string, file: FileAt | undefined) {
  const asked = useAsk(
    'history.preview',
    { root, commit: file?.commit ?? '', path: file?.path ?? '' },
    // The content of a commit never changes.
    { when: file !== undefined, freshMs: Number.POSITIVE_INFINITY, heldMs: PREVIEW_HELD_MS },
  );
  return file && asked;
}
