/** Shown before the window knows a server: what a fleet is, and how to have one on this machine. */
import { Button } from '../../design/controls/button.tsx';
import { EmptyState } from '../../design/states.tsx';
import type { Failed } from '../../failures/failed.ts';
import { Terminal } from './terminal.tsx';

export function NoServers({ onAdd }: { readonly onAdd: () => void }) {
  return (
    <>
      <EmptyState
        icon="fleet"
        title="No fleet yet"
        actions={
          <Button icon="plus" look="primary" onPress={onAdd}>
            Connect to Temporal
          </Button>
        }
      >
        A fleet is many machines that copy, sync or check one large bucket together. Temporal, an open-source
        server, remembers what is done and gives the next part to a worker that has time. To try one on this
        computer, run the commands below, each in a terminal of its own.
      </EmptyState>
      <Terminal
        lines={[
          ['temporal server start-dev --db-filename fleet.db', "Temporal's server for development"],
          ['dray fleet worker', 'a worker; start any number'],
          ['dray fleet copy s3://from/data s3://to/data', 'a job'],
        ]}
      />
    </>
  );
}

/** Temporal's packages take 176 MB, so Dray comes without them. */
export function NoPackages({ error, onRetry }: { readonly error: Failed; readonly onRetry: () => void }) {
  const { command } = error.data ?? {};
  return (
    <>
      <EmptyState
        icon="download"
        title="Temporal's packages are not installed"
        actions={
          <Button icon="refresh" onPress={onRetry}>
            Try again
          </Button>
        }
      >
        {window.dray
          ? 'This app comes without them. Install them for the command, then open this screen with "dray ui".'
          : 'Only fleets need them, so Dray comes without them. Install them, then start the window again.'}
      </EmptyState>
      {typeof command === 'string' && <Terminal lines={[[command, 'installs them for this computer']]} />}
    </>
  );
}
