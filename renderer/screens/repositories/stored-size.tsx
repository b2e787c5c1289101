/** The stored size of a repository. It is measured on request, because a listing costs requests. */
import { useRef, useState } from 'react';
import type { RepositoryCard } from '../../../engine/api/host/repositories.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Ago } from '../../design/ago.tsx';
import { Figure } from '../../design/card.tsx';
import { Button } from '../../design/controls/button.tsx';
import { useHost } from '../../host/use-host.tsx';
import { showFailure } from '../../shell/toasts/toasts.tsx';

export interface StoredSizeProps {
  readonly repository: RepositoryCard;
  readonly onMeasured: (repository: RepositoryCard) => void;
}

interface Counted {
  readonly objects: number;
  readonly bytes: number;
}

export function StoredSize({ repository: { id, knownAs, stored }, onMeasured }: StoredSizeProps) {
  const host = useHost();
  const [counted, setCounted] = useState<Counted>();
  const stop = useRef<AbortController>(undefined);
  const name = knownAs[0]?.name ?? '';
  const measure = async () => {
    const stopping = new AbortController();
    stop.current = stopping;
    setCounted({ objects: 0, bytes: 0 });
    try {
      const measured = await host.ask(
        'repositories.measure',
        { id },
        {
          signal: stopping.signal,
          onEvents: (events) => {
            const newest = events.findLast((event) => event.type === 'progress');
            if (newest?.type === 'progress')
              setCounted({ objects: newest.filesDone, bytes: newest.bytesDone });
          },
        },
      );
      onMeasured(measured);
    } catch (error) {
      if (!stopping.signal.aborted) showFailure(`${name} was not measured`, error);
    } finally {
      setCounted(undefined);
    }
  };
  if (counted) {
    return (
      <Figure
        label="Stored"
        value={<span className="faint">{formatBytes(counted.bytes)}</span>}
        note={
          <span className="row">
            <span role="status">{formatPlural(counted.objects, 'object')} so far</span>
            <Button size="small" onPress={() => stop.current?.abort()}>
              <span className="unseen">{`Measuring ${name}: `}</span>Stop
            </Button>
          </span>
        }
      />
    );
  }
  return (
    <Figure
      label="Stored"
      value={stored ? formatBytes(stored.bytes) : 'Not measured'}
      note={
        <span className="row">
          {stored && (
            <span>
              {formatPlural(stored.objects, 'object')}, <Ago moment={stored.at} />
            </span>
          )}
          <Button size="small" look={stored ? 'quiet' : 'plain'} onPress={() => void measure()}>
            {stored ? 'Measure again' : 'Measure'}
            <span className="unseen"> {name}</span>
          </Button>
        </span>
      }
    />
  );
}
