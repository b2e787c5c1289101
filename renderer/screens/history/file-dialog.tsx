/** One file as it was in a commit, and the way to have it back. */
import { useState } from 'react';
import { Button, LinkButton } from '../../design/button.tsx';
import { Segmented } from '../../design/choices.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { formatHash } from '../../design/format.ts';
import { ErrorState, Loading, Notice } from '../../design/states.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { FilePreviewView } from '../file-preview.tsx';

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
  const start = useDo('transfers.start');
  const restore = (): void =>
    start.mutate({ kind: 'restore', root, paths: [shown.path], from: shown.commit });
  return (
    <Dialog
      title={shown.path}
      isOpen
      onClose={onClose}
      size="large"
      actions={
        <>
          {start.isSuccess && <LinkButton href="#/transfers">Open Transfers</LinkButton>}
          <Button onPress={onClose}>Close</Button>
          <Button
            look="primary"
            icon="history"
            isDisabled={start.isPending || start.isSuccess}
            onPress={restore}
          >
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
        {start.isSuccess && <Notice tone="success">It is on its way back into your folder.</Notice>}
        {start.error && <Notice tone="danger">{start.error.message}</Notice>}
        {preview.isPending && <Loading label="Reading the file" />}
        {preview.error && <ErrorState title="The file cannot be read" error={preview.error} />}
        {preview.data && <FilePreviewView preview={preview.data} name={shown.path} />}
      </div>
    </Dialog>
  );
}
