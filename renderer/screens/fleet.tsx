/** The fleets of Temporal servers: their jobs, and one job with its ranges and its workers. */
import './fleet/fleet.css';
import { type ReactNode, useState } from 'react';
import type { FleetServer } from '../../engine/api/host/fleet.ts';
import { Button, IconButton, LinkButton } from '../design/controls/button.tsx';
import { Select } from '../design/controls/field.tsx';
import { ConfirmDialog } from '../design/overlays/dialog.tsx';
import { Screen } from '../design/screen.tsx';
import { Loading, Notice } from '../design/states.tsx';
import { ErrorState, FailureText } from '../failures/failure.tsx';
import { useAsk, useDo } from '../host/use-host.tsx';
import { goTo, hrefOf, useRoute } from '../route.ts';
import { showFailure } from '../shell/toasts/toasts.tsx';
import { JobList } from './fleet/job-list.tsx';
import { JobView } from './fleet/job-view.tsx';
import { NoPackages, NoServers } from './fleet/no-servers.tsx';
import { ServerDialog } from './fleet/server-dialog.tsx';
import { type FleetWatch, useFleetWatch } from './fleet/use-fleet-watch.ts';

export function FleetScreen() {
  const { given } = useRoute();
  const listed = useAsk('fleet.servers', {});
  const servers = listed.data?.servers;
  const [form, setForm] = useState<{ readonly edits?: FleetServer }>();
  const chosen = servers?.find(({ name }) => name === given.server) ?? servers?.[0];
  return (
    <Screen
      title="Fleets"
      actions={
        chosen && (
          <Button icon="plus" onPress={() => setForm({})}>
            Add a server
          </Button>
        )
      }
    >
      {listed.isPending && <Loading label="Reading your servers" />}
      {listed.error && !servers && (
        <ErrorState
          title="Cannot read your servers"
          error={listed.error}
          onRetry={() => void listed.refetch()}
        />
      )}
      {servers?.length === 0 && <NoServers onAdd={() => setForm({})} />}
      {servers && chosen && (
        <div className="stack">
          <ServerBar
            servers={servers}
            chosen={chosen}
            isJob={given.job !== undefined}
            onEdit={() => setForm({ edits: chosen })}
          />
          <ServerJobs key={chosen.name} server={chosen.name} job={given.job} />
        </div>
      )}
      {form && (
        <ServerDialog
          edits={form.edits}
          onClose={() => setForm(undefined)}
          onSaved={(name) => {
            setForm(undefined);
            goTo('fleet', { server: name });
          }}
        />
      )}
    </Screen>
  );
}

function ServerBar({
  servers,
  chosen,
  isJob,
  onEdit,
}: {
  readonly servers: readonly FleetServer[];
  readonly chosen: FleetServer;
  /** The screen shows one of its jobs. */
  readonly isJob: boolean;
  readonly onEdit: () => void;
}) {
  const [isAsked, setAsked] = useState(false);
  const { isGiven, name } = chosen;
  const remove = useDo('fleet.removeServer', {
    refreshes: ['fleet.servers'],
    onSuccess: () => goTo('fleet'),
    onError: (error) => showFailure(`${name} was not removed`, error),
  });
  return (
    <div className="row fleet-bar">
      {servers.length > 1 ? (
        <Select
          label="Temporal server"
          isLabelUnseen
          value={name}
          onChange={(next) => goTo('fleet', { server: next })}
          choices={servers.map((server) => ({ id: server.name, label: server.name, note: noteOf(server) }))}
        />
      ) : (
        <span className="fleet-server">
          <span className="small faint">Temporal at </span>
          <span className="code">{name}</span>
        </span>
      )}
      <span className="small faint fleet-note">{noteOf(chosen)}</span>
      {!isGiven && (
        <>
          <IconButton icon="edit" size="small" label={`Change ${name}`} onPress={onEdit} />
          <IconButton icon="trash" size="small" label={`Remove ${name}`} onPress={() => setAsked(true)} />
        </>
      )}
      {isJob && (
        <>
          <span className="grow" />
          <LinkButton size="small" icon="fleet" href={hrefOf('fleet', { server: name })}>
            All jobs
          </LinkButton>
        </>
      )}
      <ConfirmDialog
        title={`Remove ${name}?`}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        action="Remove"
        onConfirm={() => remove.mutate({ name })}
      >
        The window forgets the server. Its jobs continue.
      </ConfirmDialog>
    </div>
  );
}

function noteOf({ address, isGiven, name, namespace, queue }: FleetServer): string {
  return [
    ...(name === address ? [] : [address]),
    ...(isGiven ? ['from TEMPORAL_ADDRESS'] : []),
    ...(namespace === 'default' ? [] : [`namespace ${namespace}`]),
    ...(queue === 'dray-fleet' ? [] : [`queue ${queue}`]),
  ].join(', ');
}

function ServerJobs({ job, server }: { readonly job: string | undefined; readonly server: string }) {
  const watch = useFleetWatch(server, job);
  const { again, away, failure } = watch;
  const known = job === undefined ? watch.jobs : watch.job;
  let content: ReactNode;
  if (failure?.data?.reason === 'temporalPackages') content = <NoPackages error={failure} onRetry={again} />;
  else if (failure) content = <ErrorState title={titleOf(job)} error={failure} onRetry={again} />;
  else if (known) content = <Known server={server} watch={watch} />;
  else if (!away) content = <Loading label={`Asking Temporal at ${server}`} />;
  return (
    <>
      {away && (
        <Notice tone="warning">
          <FailureText error={away} /> The window keeps asking.
          {known && ' The figures below are its last answer.'}
        </Notice>
      )}
      {content}
    </>
  );
}

function titleOf(job: string | undefined): string {
  return job === undefined ? 'Cannot list the jobs' : `Cannot show ${job}`;
}

function Known({ server, watch: { job, jobs } }: { readonly server: string; readonly watch: FleetWatch }) {
  if (job) return <JobView key={job.card.id} server={server} view={job} />;
  return <JobList server={server} jobs={jobs ?? []} />;
}
