/**
 * Drags a part of a version out of the desktop app. The system's drag takes real files, so they are prepared
 * first. The keyboard's way to the same is "Copy out...".
 */
import './drag-out-dialog.css';
import { useEffect, useState } from 'react';
import type { ProgressEvent } from '../../../engine/api/events.ts';
import type { AnswerOf, HostEvent } from '../../../engine/api/host.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Progress } from '../../design/progress.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useHost } from '../../host/use-host.tsx';
import { showFailure } from '../../shell/toasts/toasts.tsx';

export interface DragOutDialogProps {
  /** The open folder of the version. */
  readonly place: string;
  /** Below it; `.` is all of it. */
  readonly paths: readonly string[];
  readonly onClose: () => void;
}

export function DragOutDialog({ place, paths, onClose }: DragOutDialogProps) {
  const { error, prepared, progress } = usePrepared(place, paths);
  return (
    <Dialog
      title="Drag out"
      isOpen
      onClose={onClose}
      size="small"
      actions={<Button onPress={onClose}>{prepared || error ? 'Close' : 'Cancel'}</Button>}
    >
      <div className="stack" aria-live="polite">
        {error && <ErrorNotice error={error} />}
        {!prepared && !error && <Preparing progress={progress} />}
        {prepared && <Ready {...prepared} />}
      </div>
    </Dialog>
  );
}

function Preparing({ progress }: { readonly progress: ProgressEvent | undefined }) {
  const { bytesDone = 0, bytesTotal, filesDone = 0 } = progress ?? {};
  return (
    <>
      <p>
        Preparing the files: {formatPlural(filesDone, 'file')}, {formatBytes(bytesDone)} so far.
      </p>
      <Progress label="Preparing the files" fraction={bytesTotal ? bytesDone / bytesTotal : undefined} />
    </>
  );
}

function Ready({ bytes, files, id }: AnswerOf<'drags.prepare'>) {
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a drag is the pointer's; keys have Copy out */}
      <div
        className="drag-out row"
        draggable
        onDragStart={(event) => {
          // The system's drag takes the place of the page's.
          event.preventDefault();
          window.dray?.startDrag(id).catch((error) => showFailure('The drag did not begin', error));
        }}
      >
        <Icon name="file" />
        <span className="grow">
          {formatPlural(files, 'file')}, {formatBytes(bytes)}
        </span>
      </div>
      <p className="small soft">
        Drag this to a folder or another program. It can be dropped for an hour. With the keyboard, use Copy
        out instead.
      </p>
    </>
  );
}

interface Preparation {
  readonly prepared?: AnswerOf<'drags.prepare'>;
  readonly progress?: ProgressEvent;
  readonly error?: Failed;
}

/** Ends with the dialog, which also removes what was not dragged. */
function usePrepared(place: string, paths: readonly string[]): Preparation {
  const host = useHost();
  const [state, setState] = useState<Preparation>({});
  // The dialog is about what was chosen when it opened.
  const [input] = useState({ place, paths });
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    let id: string | undefined;
    const forget = () => id !== undefined && host.ask('drags.forget', { id }).catch(() => {});
    const onEvents = (events: readonly HostEvent[]) => {
      const progress = events.findLast((event) => event.type === 'progress');
      if (progress) setState((before) => ({ ...before, progress }));
    };
    host.ask('drags.prepare', input, { signal, onEvents }).then(
      (prepared) => {
        ({ id } = prepared);
        if (signal.aborted) forget();
        else setState({ prepared });
      },
      (error: unknown) => signal.aborted || setState({ error: toFailed(error) }),
    );
    return () => {
      stopping.abort();
      forget();
    };
  }, [host, input]);
  return state;
}
