/** One saved job: what it does, when it runs, how it went. */
import type { SavedJobCard } from '../../../engine/api/host/saved.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Ago } from '../../design/ago.tsx';
import { Badge } from '../../design/badge.tsx';
import { Figure, Figures } from '../../design/card.tsx';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { formatMoment, formatRate } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { Progress } from '../../design/progress.tsx';
import { kindWords, noticeLine, resultWords, stateWords, triggerWords, whyWaiting } from './job-words.ts';

export interface JobItemProps {
  readonly job: SavedJobCard;
  /** Some process starts due jobs. */
  readonly isStarted: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onPause: (isPaused: boolean) => void;
  readonly onLog: () => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

export function JobItem({ job, isStarted, onEdit, onLog, onPause, onRemove, onRun, onStop }: JobItemProps) {
  const { name, state } = job;
  const [kind, icon] = kindWords(job);
  const [tone, word] = stateWords(job);
  const isRunning = state === 'running';
  const isPaused = state === 'paused';
  const why = isRunning ? '' : whyWaiting(job, isStarted);
  return (
    <li className="card job" data-job={name}>
      <header className="row job-head">
        <span className="card-icon">
          <Icon name={icon} size={20} />
        </span>
        <div className="grow job-title">
          <h2 className="cut">{name}</h2>
          <Places job={job} kind={kind} />
        </div>
        <Badge tone={tone}>{word}</Badge>
      </header>
      {isRunning && <Running job={job} />}
      <Figures>
        <Figure label="Runs" value={<Starts job={job} />} {...(why === '' ? {} : { note: why })} />
        <Figure
          label="Next run"
          value={job.nextRun === undefined ? 'Not planned' : formatMoment(job.nextRun)}
        />
        <Figure label="Last run" {...lastWords(job)} />
        {job.lastResult !== 'done' && job.lastSuccess !== undefined && (
          <Figure label="Last success" value={<Ago moment={job.lastSuccess} />} />
        )}
      </Figures>
      <div className="small faint">{noticeLine(job.notices)}</div>
      <footer className="card-foot">
        {/* The same button in both states, so that the focus stays on it. */}
        <Button
          size="small"
          icon={isRunning ? 'close' : 'play'}
          aria-label={isRunning ? `Stop ${name}` : `Run now: ${name}`}
          onPress={isRunning ? onStop : onRun}
        >
          {isRunning ? 'Stop' : 'Run now'}
        </Button>
        <Button
          size="small"
          icon={isPaused ? 'play' : 'pause'}
          aria-label={isPaused ? `Resume ${name}` : `Pause ${name}`}
          onPress={() => onPause(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <Button size="small" icon="file" aria-label={`Log of ${name}`} onPress={onLog}>
          Log
        </Button>
        <Button size="small" icon="edit" aria-label={`Edit ${name}`} onPress={onEdit}>
          Edit
        </Button>
        <span className="grow" />
        <IconButton icon="trash" size="small" label={`Remove ${name}`} onPress={onRemove} />
      </footer>
    </li>
  );
}

/** Outside text: paths and addresses as they were typed. */
function Places({
  job: { arguments: words, directory, kind: known, places },
  kind,
}: {
  readonly job: SavedJobCard;
  readonly kind: string;
}) {
  const [from, to] = places;
  if (known === undefined || (places.length > 0 && to === undefined))
    return <div className="code small faint job-places">{['dray', ...words].join(' ')}</div>;
  if (from === undefined || to === undefined)
    return (
      <div className="small faint job-places">
        {kind} <span className="code">{directory}</span>
      </div>
    );
  return (
    <div className="small faint job-places">
      {kind} <span className="code">{from}</span> {known === 'check' ? 'against' : 'to'}{' '}
      <span className="code">{to}</span>
      <span className="job-folder">
        {' '}
        in <span className="code">{directory}</span>
      </span>
    </div>
  );
}

function Starts({ job: { triggers } }: { readonly job: SavedJobCard }) {
  const text = triggers.length === 0 ? 'by hand' : triggers.map(triggerWords).join(', ');
  return <span className="job-words">{text.charAt(0).toUpperCase() + text.slice(1)}</span>;
}

function lastWords({ lastEnd, lastMessage, lastResult, lastRun, state }: SavedJobCard) {
  if (lastRun === undefined) return { value: 'Never' };
  if (lastResult === undefined || state === 'running')
    return { value: <Ago moment={lastRun} />, note: 'under way' };
  const [tone, word] = resultWords(lastResult);
  return {
    value: (
      <span className="row job-words">
        <Badge tone={tone}>{word}</Badge> <Ago moment={lastEnd ?? lastRun} />
      </span>
    ),
    ...(lastMessage ? { note: <span className="job-message">{lastMessage}</span> } : {}),
  };
}

/** The record of a run is a few seconds old. */
function Running({ job }: { readonly job: SavedJobCard }) {
  const { lastRun, name, progress } = job;
  const { bytesDone = 0, bytesPerSecond = 0, bytesTotal, filesDone = 0, isCounting, path } = progress ?? {};
  const isKnown = bytesTotal !== undefined && bytesTotal > 0 && !isCounting;
  const facts = [
    ...(progress ? [formatPlural(filesDone, 'file'), formatBytes(bytesDone)] : []),
    ...(isKnown ? [`of ${formatBytes(bytesTotal)}`] : []),
    ...(bytesPerSecond >= 1 ? [formatRate(bytesPerSecond)] : []),
  ];
  return (
    <div className="stack job-running">
      <Progress label={`Progress of ${name}`} fraction={isKnown ? bytesDone / bytesTotal : undefined} />
      <div className="small faint">
        {facts.length > 0 ? facts.join(', ') : 'It has just begun'}
        {lastRun !== undefined && (
          <>
            {'; started '}
            <Ago moment={lastRun} />
          </>
        )}
      </div>
      {path !== undefined && <div className="code small faint cut">{path}</div>}
      {job.isChangedSinceStart && (
        <div className="small">
          It was edited since. This run keeps its settings; the next one uses the change.
        </div>
      )}
    </div>
  );
}
