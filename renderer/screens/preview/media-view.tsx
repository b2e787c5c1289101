/**
 * Plays audio and video in the browser's own element. The page reads the bytes through its port, in parts,
 * when the user presses Load, and passes them as a blob of a fixed type. So the engine serves no file content
 * by URL, and the file cannot load anything.
 */
import './file-preview.css';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { DrayError } from '../../../engine/api/error.ts';
import {
  BYTES_AT_ONCE_MAX,
  type BytesSource,
  type FilePreview,
} from '../../../engine/api/host/file-preview.ts';
import { formatBytes } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Progress } from '../../design/progress.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useHost } from '../../host/use-host.tsx';

type Media = Extract<FilePreview, { as: 'media' }>;

interface MediaViewProps {
  readonly kind: Media;
  /** Its name for screen readers. */
  readonly name: string;
}

type Stage =
  | { readonly is: 'asked' }
  | { readonly is: 'loading'; readonly bytes: number }
  | { readonly is: 'ready'; readonly url: string; readonly isUnplayable?: boolean }
  | { readonly is: 'failed'; readonly error: DrayError };

export default function MediaView({ kind, name }: MediaViewProps) {
  const host = useHost();
  const [stage, setStage] = useState<Stage>({ is: 'asked' });
  const stop = useRef<AbortController>(undefined);
  const url = stage.is === 'ready' ? stage.url : undefined;
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => (url === undefined ? undefined : () => URL.revokeObjectURL(url)), [url]);
  const { source } = kind;
  const { sizeBytes } = kind.facts;
  const load = async (): Promise<void> => {
    const stopping = new AbortController();
    stop.current = stopping;
    const { signal } = stopping;
    try {
      setStage({ is: 'loading', bytes: 0 });
      const parts: Uint8Array<ArrayBuffer>[] = [];
      for (let start = 0; start < sizeBytes; start += BYTES_AT_ONCE_MAX) {
        const limit = Math.min(BYTES_AT_ONCE_MAX, sizeBytes - start);
        parts.push(await readPart(host, source, { start, limit, signal }));
        if (signal.aborted) return;
        setStage({ is: 'loading', bytes: start + limit });
      }
      setStage({ is: 'ready', url: URL.createObjectURL(new Blob(parts, { type: kind.mime })) });
    } catch (error) {
      if (!signal.aborted) setStage({ is: 'failed', error: error as DrayError });
    }
  };
  const cancel = () => {
    stop.current?.abort();
    setStage({ is: 'asked' });
  };
  return (
    <div ref={useFocusAtStage(stage)}>
      <AtStage
        stage={stage}
        kind={kind}
        name={name}
        onLoad={() => void load()}
        onStop={cancel}
        onUnplayable={() => setStage((now) => (now.is === 'ready' ? { ...now, isUnplayable: true } : now))}
      />
    </div>
  );
}

/** The button of a stage goes with it. Without this the keyboard would leave the dialog around it. */
function useFocusAtStage({ is }: Stage): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const last = useRef(is);
  // Before the next frame: there the dialog would give the keyboard to its first button.
  useLayoutEffect(() => {
    if (last.current === is) return;
    last.current = is;
    if (document.activeElement === document.body)
      box.current?.querySelector<HTMLElement>('button, audio, video')?.focus();
  }, [is]);
  return box;
}

interface AtStageProps extends MediaViewProps {
  readonly stage: Stage;
  readonly onLoad: () => void;
  readonly onStop: () => void;
  readonly onUnplayable: () => void;
}

function AtStage({ stage, kind, name, onLoad, onStop, onUnplayable }: AtStageProps) {
  const { sizeBytes } = kind.facts;
  switch (stage.is) {
    case 'asked':
      return (
        <p>
          <Button icon="play" onPress={onLoad}>
            Load and play ({formatBytes(sizeBytes)})
          </Button>
        </p>
      );
    case 'loading':
      return (
        <div className="file-preview-loading">
          <Progress label={`Reading ${name}`} fraction={stage.bytes / Math.max(1, sizeBytes)} />
          <Button onPress={onStop}>Stop</Button>
        </div>
      );
    case 'failed':
      return <ErrorNotice error={stage.error} />;
    case 'ready':
      return (
        <>
          <Player kind={kind} url={stage.url} name={name} onError={onUnplayable} />
          {stage.isUnplayable === true && (
            <p className="file-preview-note" role="status">
              This browser cannot play the file.
            </p>
          )}
        </>
      );
  }
}

interface PlayerProps extends MediaViewProps {
  readonly url: string;
  readonly onError: () => void;
}

function Player({ kind, name, onError, url }: PlayerProps) {
  const shared = {
    ...{ src: url, controls: true, className: 'file-preview-media', 'aria-label': name, onError },
    ref: stopWhenGone,
  };
  return kind.isVideo ? <video {...shared} /> : <audio {...shared} />;
}

/** A player that is removed while it plays keeps reading its blob, which the page has released by then. */
function stopWhenGone(player: HTMLMediaElement | null): () => void {
  return () => {
    player?.pause();
    player?.removeAttribute('src');
    player?.load();
  };
}

async function readPart(
  host: ReturnType<typeof useHost>,
  source: BytesSource,
  { signal, ...part }: { readonly start: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const { base64 } = await ('place' in source
    ? host.ask('browse.bytes', { ...source, ...part }, { signal })
    : host.ask('history.bytes', { ...source, ...part }, { signal }));
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
