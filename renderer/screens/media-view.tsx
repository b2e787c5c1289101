/**
 * Plays audio and video in the browser's own element. The page reads the bytes through its port, in parts,
 * when the user presses Load, and passes them as a blob of a fixed type. So the engine serves no file content
 * by URL, and the file cannot load anything.
 */
import { useEffect, useRef, useState } from 'react';
import type { DrayError } from '../../engine/api/error.ts';
import { BYTES_AT_ONCE_MAX, type FilePreview } from '../../engine/api/host/file-preview.ts';
import { formatBytes } from '../../engine/api/numbers.ts';
import { Button } from '../design/button.tsx';
import { Progress } from '../design/progress.tsx';
import { ErrorNotice } from '../failures/failure.tsx';
import { useHost } from '../host/use-host.tsx';

type Media = Extract<FilePreview, { as: 'media' }>;

interface MediaViewProps {
  readonly kind: Media;
  readonly name: string;
  readonly place: string;
}

type Stage =
  | { readonly is: 'asked' }
  | { readonly is: 'loading'; readonly bytes: number }
  | { readonly is: 'ready'; readonly url: string; readonly isUnplayable?: boolean }
  | { readonly is: 'failed'; readonly error: DrayError };

export default function MediaView({ kind, name, place }: MediaViewProps) {
  const host = useHost();
  const [stage, setStage] = useState<Stage>({ is: 'asked' });
  const stop = useRef<AbortController>(undefined);
  const url = stage.is === 'ready' ? stage.url : undefined;
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => (url === undefined ? undefined : () => URL.revokeObjectURL(url)), [url]);
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
        parts.push(await readPart(host, { place, start, limit }, signal));
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
  switch (stage.is) {
    case 'asked':
      return (
        <p>
          <Button icon="play" onPress={() => void load()}>
            Load and play ({formatBytes(sizeBytes)})
          </Button>
        </p>
      );
    case 'loading':
      return (
        <div className="file-preview-loading">
          <Progress label={`Reading ${name}`} fraction={stage.bytes / Math.max(1, sizeBytes)} />
          <Button onPress={cancel}>Stop</Button>
        </div>
      );
    case 'failed':
      return <ErrorNotice error={stage.error} />;
    case 'ready':
      return (
        <>
          <Player
            kind={kind}
            url={stage.url}
            name={name}
            onError={() => setStage({ ...stage, isUnplayable: true })}
          />
          {stage.isUnplayable === true && (
            <p className="file-preview-note" role="status">
              This browser cannot play the file.
            </p>
          )}
        </>
      );
  }
}

interface PlayerProps extends Omit<MediaViewProps, 'place'> {
  readonly url: string;
  readonly onError: () => void;
}

function Player({ kind, name, onError, url }: PlayerProps) {
  const shared = { src: url, controls: true, className: 'file-preview-media', 'aria-label': name, onError };
  return kind.isVideo ? <video {...shared} /> : <audio {...shared} />;
}

async function readPart(
  host: ReturnType<typeof useHost>,
  part: { readonly place: string; readonly start: number; readonly limit: number },
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const { base64 } = await host.ask('browse.bytes', part, { signal });
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
