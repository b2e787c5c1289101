/** The jobs that Temporal knows, the newest first. */
import type { FleetJobCard } from '../../../engine/api/host/fleet.ts';
import { Ago } from '../../design/ago.tsx';
import { Badge } from '../../design/badge.tsx';
import { EmptyState } from '../../design/states.tsx';
import { hrefOf } from '../../route.ts';
import { kindWord, stateWords } from './fleet-words.ts';
import { Terminal } from './terminal.tsx';

export function JobList({
  server,
  jobs,
}: {
  readonly server: string;
  readonly jobs: readonly FleetJobCard[];
}) {
  if (jobs.length === 0)
    return (
      <>
        <EmptyState icon="fleet" title="No jobs yet">
          Start one at a command line. It is then shown here, with its ranges and its workers.
        </EmptyState>
        <Terminal
          lines={[
            ['dray fleet worker', 'on each machine that works'],
            ['dray fleet copy s3://from/data s3://to/data', 'anywhere, once'],
          ]}
        />
      </>
    );
  return (
    <ul className="fleet-jobs">
      {jobs.map((job) => (
        <JobItem key={`${job.id} ${job.started}`} server={server} job={job} />
      ))}
    </ul>
  );
}

function JobItem({ job, server }: { readonly job: FleetJobCard; readonly server: string }) {
  const { destination, ended, id, source, started } = job;
  const [tone, word] = stateWords(job);
  return (
    <li className="card fleet-item">
      <div className="row">
        <h2 className="grow fleet-name">
          <a href={hrefOf('fleet', { server, job: id })}>{id}</a>
        </h2>
        <Badge tone={tone}>{word}</Badge>
      </div>
      <p className="small faint fleet-places">
        {kindWord(job)} <span className="code">{source}</span>
        {destination !== '' && destination !== source && (
          <>
            {job.kind === 'check' ? ' against ' : ' to '}
            <span className="code">{destination}</span>
          </>
        )}
      </p>
      <p className="small faint">
        Started <Ago moment={started} />
        {ended !== undefined && (
          <>
            {', ended '}
            <Ago moment={ended} />
          </>
        )}
      </p>
    </li>
  );
}
