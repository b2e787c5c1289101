/** One job of a fleet: its progress, its ranges, its workers, and the actions on it. */
import { useState } from 'react';
import type { FleetJobView, FleetProgress } from '../../../engine/api/host/fleet.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Ago } from '../../design/ago.tsx';
import { Badge } from '../../design/badge.tsx';
import { Card, Figure, Figures } from '../../design/card.tsx';
import { Button } from '../../design/controls/button.tsx';
import { formatRate } from '../../design/format.ts';
import { ConfirmDialog } from '../../design/overlays/dialog.tsx';
import { Progress, type ProgressProps } from '../../design/progress.tsx';
import { Loading, Notice } from '../../design/states.tsx';
import { FailedFiles } from './failed-files.tsx';
import {
  findingWords,
  fractionOf,
  isUnderWay,
  kindWord,
  knownWords,
  limitWords,
  phaseWords,
  stateWords,
} from './fleet-words.ts';
import { RangeMap } from './range-map.tsx';
import { TemporalLink } from './temporal-link.tsx';
import { useFleetActions } from './use-fleet-actions.ts';
import { WorkerList } from './worker-list.tsx';

export interface JobViewProps {
  readonly server: string;
  readonly view: FleetJobView;
}

export function JobView({ server, view }: JobViewProps) {
  const { card, progress, silence, temporalUrl } = view;
  const { destination, ended, id, source, started } = card;
  const [tone, word] = stateWords(card);
  const problems = progress ? problemWords(progress) : '';
  return (
    <div className="stack fleet-job">
      <Card className="fleet-head">
        <header className="row fleet-title">
          <h2 className="grow">{id}</h2>
          <Badge tone={tone}>{word}</Badge>
        </header>
        <p className="small faint fleet-places">
          {kindWord(card)} <span className="code">{source}</span>
          {destination !== '' && destination !== source && (
            <>
              {card.kind === 'check' ? ' against ' : ' to '}
              <span className="code">{destination}</span>
            </>
          )}
          {'; started '}
          <Ago moment={started} />
          {ended !== undefined && (
            <>
              {', ended '}
              <Ago moment={ended} />
            </>
          )}
        </p>
        {/* Above the figures, so that they are in sight in a window of little height. */}
        <div className="row fleet-actions">
          <Actions server={server} view={view} />
          <span className="grow" />
          <TemporalLink url={temporalUrl} job={id} />
        </div>
        {progress && <Sums view={view} progress={progress} />}
        {silence && <Silence view={view} />}
        {progress && !silence && <Awaited progress={progress} />}
        {!progress && !silence && <Loading label="Asking the job's workers" />}
      </Card>
      {progress && progress.tiles.length > 0 && (
        <Card title={`Ranges: ${formatCount(progress.rangesDone)} of ${formatCount(progress.ranges)} ended`}>
          <RangeMap tiles={progress.tiles} />
        </Card>
      )}
      {progress && isUnderWay(card) && (
        <Card title="Workers" actions={<Together progress={progress} />}>
          <WorkerList progress={progress} />
        </Card>
      )}
      {progress && problems !== '' && (
        <Card title={problems}>
          <FailedFiles server={server} job={id} progress={progress} />
        </Card>
      )}
    </div>
  );
}

function problemWords(progress: FleetProgress): string {
  const { failed, failedParts } = progress;
  const found = findingWords(progress);
  return [
    ...(failed > 0 || failedParts > 0 ? [`${formatPlural(failed, 'file')} failed`] : []),
    ...(found === '' ? [] : [`Found: ${found}`]),
  ].join('; ');
}

const TONES: Readonly<Partial<Record<string, ProgressProps['tone']>>> = {
  paused: 'paused',
  done: 'done',
  found: 'failed',
  partial: 'failed',
  failed: 'failed',
  cancelled: 'paused',
  terminated: 'failed',
};

function Sums({
  view: { card },
  progress,
}: {
  readonly view: FleetJobView;
  readonly progress: FleetProgress;
}) {
  const { bytesDone, bytesKnown, filesDone, filesKnown, failed, partsDone, partsRunning, partsWaiting } =
    progress;
  const isRunning = isUnderWay(card);
  const limits = limitWords(progress);
  const ahead = `${formatCount(partsRunning)} running, ${formatCount(partsWaiting)} waiting`;
  return (
    <>
      {isRunning && (
        <div className="stack">
          <Progress
            label={`Progress of ${card.id}`}
            fraction={fractionOf(card.state === 'paused' ? { ...progress, isListed: true } : progress)}
            tone={TONES[card.state] ?? 'accent'}
          />
          <div className="small faint">
            {phaseWords(progress)}
            {limits !== '' && `; limited to ${limits}`}
          </div>
        </div>
      )}
      <Figures>
        <Figure
          label="Files"
          value={formatCount(filesDone)}
          {...(isRunning && { note: knownWords(progress, formatCount(Math.max(filesKnown, filesDone))) })}
        />
        <Figure
          label="Content"
          value={formatBytes(bytesDone)}
          {...(isRunning && { note: knownWords(progress, formatBytes(Math.max(bytesKnown, bytesDone))) })}
        />
        <Figure label="Parts" value={formatCount(partsDone)} {...(isRunning && { note: ahead })} />
        <Figure label="Failed files" value={formatCount(failed)} />
      </Figures>
    </>
  );
}

/** Signals wait in Temporal, so all buttons work without a worker. */
function Silence({ view: { card, progress, silence } }: { readonly view: FleetJobView }) {
  if (!silence) return null;
  const shown = progress ? 'The figures are those of the last answer.' : '';
  if (!isUnderWay(card))
    return (
      <Notice tone="warning">
        Temporal has no result of this job, and no worker answers for it. {shown} Start one to see how far the
        job came: <span className="code">dray fleet worker</span>
      </Notice>
    );
  return (
    <Notice tone="warning">
      No worker answers for this job. It continues when one runs:{' '}
      <span className="code">dray fleet worker</span> {shown}
    </Notice>
  );
}

/** Each part of a push is in a folder of one worker, so no other worker can store it. */
function Awaited({ progress: { awaited } }: { readonly progress: FleetProgress }) {
  if (awaited.length === 0) return null;
  return (
    <Notice tone="warning">
      This push waits for {awaited.length === 1 ? 'the worker' : 'the workers'} {awaited.join(', ')}. Start{' '}
      {awaited.length === 1 ? 'it' : 'each'} on its machine:{' '}
      <span className="code">dray fleet worker --name NAME --folder FOLDER</span>
    </Notice>
  );
}

function Together({ progress: { workers } }: { readonly progress: FleetProgress }) {
  const known = workers.filter(({ bytesPerSecond }) => bytesPerSecond !== undefined);
  if (known.length < 2) return null;
  const sum = known.reduce((total, { bytesPerSecond = 0 }) => total + bytesPerSecond, 0);
  return <span className="small faint">together {formatRate(sum)}</span>;
}

function Actions({ server, view: { card, progress } }: JobViewProps) {
  const { id, state } = card;
  const [isAsked, setAsked] = useState(false);
  const { busy, change } = useFleetActions({ server, job: id });
  const isPaused = state === 'paused';
  const canRetry = state !== 'cancelled' && state !== 'failed' && state !== 'terminated';
  const hasFailed = state === 'partial' || (progress?.failed ?? 0) > 0;
  return (
    <>
      {isUnderWay(card) && (
        <>
          {/* The same button in both states, so that the focus stays on it. */}
          <Button
            size="small"
            icon={isPaused ? 'play' : 'pause'}
            aria-label={isPaused ? `Resume ${id}` : `Pause ${id}`}
            isPending={busy === 'pause' || busy === 'resume'}
            onPress={() => void change(isPaused ? 'resume' : 'pause')}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <Button
            size="small"
            icon="close"
            aria-label={`Cancel ${id}`}
            isPending={busy === 'cancel'}
            onPress={() => setAsked(true)}
          >
            Cancel
          </Button>
        </>
      )}
      {hasFailed && canRetry && (
        <Button
          size="small"
          icon="refresh"
          aria-label={`Try failed files again: ${id}`}
          isPending={busy === 'retryFailed'}
          onPress={() => void change('retryFailed')}
        >
          Try failed files again
        </Button>
      )}
      <ConfirmDialog
        title={`Cancel ${id}?`}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        action="Cancel the job"
        isDanger
        onConfirm={() => void change('cancel')}
      >
        Files that it has copied stay. The job cannot continue afterwards; a new job with the same places
        copies the rest.
      </ConfirmDialog>
    </>
  );
}
