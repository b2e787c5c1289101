/** One file as it was in a commit, and the way to have it back. */
import { useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Segmented } from '../../design/choices.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { formatHash } from '../../design/format.ts';
import { ErrorState, Loading } from '../../design/states.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { FilePreviewView } from '../file-preview.tsx';
import { useStartTransfers } from '../start-transfer.ts';

export interface FileAt {
  readonly path: string;
  readonly commit: string;
  /** The same file in the older of two compared commits. */
  readonly before?: { readonly path: string; readonly commit: string };
}

export function FileDialog({
  root,
  file,
  onClose,
}: {
  readonly root: string;
  readonly file: FileAt;
  readonly onClose: () => void;
}) {
  const [side, setSide] = useState<'before' | 'after'>('after');
  const shown = side === 'before' && file.before ? file.before : file;
  const preview = useAsk('history.preview', { root, commit: shown.commit, path: shown.path });
  const start = useStartTransfers();
  const restore = (): void => {
    void start(`${shown.path} is on its way back`, [
      { kind: 'restore', root, paths: [shown.path], from: shown.commit },
    ]);
    onClose();
  };
  return (
    <Dialog
      title={shown.path}
      isOpen
      onClose={onClose}
      size="large"
      actions={
        <>
          <Button onPress={onClose}>Close</Button>
          <Button look="primary" icon="history" onPress={restore}>
            Restore this file
          </Button>
        </>
      }
    >
      <div className="stack">
        <div className="row">
          <p className="soft grow">
            As it was in <span className="code">{formatHash(shown.commit)}</span>. Restoring it replaces the
            file in your folder.
          </p>
          {file.before && (
            <Segmented
              label="Which side"
              size="small"
              value={side}
              onChange={setSide}
              choices={[
                { id: 'before', label: 'Before' },
                { id: 'after', label: 'After' },
              ]}
            />
          )}
        </div>
        {preview.isPending && <Loading label="Reading the file" />}
        {preview.error && <ErrorState title="The file cannot be read" error={preview.error} />}
        {preview.data && <FilePreviewView preview={preview.data} name={shown.path} />}
      </div>
    </Dialog>
  );
}
