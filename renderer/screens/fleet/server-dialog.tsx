/** A server of Temporal: its address, and what an encrypted connection needs. */
import { useState } from 'react';
import type { FleetServer } from '../../../engine/api/host/fleet.ts';
import { Checkbox, Field } from '../../design/controls/field.tsx';
import { FormDialog } from '../../design/overlays/dialog.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useDo } from '../../host/use-host.tsx';

export interface ServerDialogProps {
  /** The server to change. */
  readonly edits?: FleetServer | undefined;
  readonly onClose: () => void;
  /** @param name The name of the server. */
  readonly onSaved: (name: string) => void;
}

/** The fields with text; empty: not given. */
const EMPTY = {
  address: '127.0.0.1:7233',
  name: '',
  namespace: 'default',
  queue: 'dray-fleet',
  uiUrl: '',
  caPath: '',
  certPath: '',
  keyPath: '',
  serverName: '',
  apiKeyPath: '',
  payloadKeyPath: '',
};
type Texts = typeof EMPTY;
const REQUIRED: readonly (keyof Texts)[] = ['address', 'name', 'namespace', 'queue'];

export function ServerDialog({ edits, onClose, onSaved }: ServerDialogProps) {
  const [texts, setTexts] = useState<Texts>(() => textsOf(edits));
  const [isTls, setTls] = useState(edits?.tls ?? false);
  const [failure, setFailure] = useState<Failed>();
  const server = serverOf(texts, isTls);
  const keep = useDo('fleet.keepServer', {
    refreshes: ['fleet.servers'],
    onSuccess: () => onSaved(server.name),
    onError: (error) => setFailure(toFailed(error)),
  });
  const field = (name: keyof Texts) => ({
    value: texts[name],
    onChange: (value: string) => {
      setTexts((before) => ({ ...before, [name]: value }));
      setFailure(undefined);
    },
  });
  return (
    <FormDialog
      title={edits ? `Change ${edits.name}` : 'Connect to Temporal'}
      action={edits ? 'Save' : 'Connect'}
      onClose={onClose}
      isPending={keep.isPending}
      onSubmit={() => keep.mutate({ server, ...(edits && { from: edits.name }) })}
    >
      <Field
        label="Address"
        isCode
        autoFocus
        help="HOST:PORT, as the workers have it. The server for development listens at 127.0.0.1:7233."
        {...field('address')}
      />
      <Field label="Name" help="Default: its address." {...field('name')} />
      <Field label="Namespace" {...field('namespace')} />
      <Field label="Queue" help="That of the workers." {...field('queue')} />
      <Field
        label="Temporal's own screens"
        isCode
        help="Default: port 8233 of the same host, as the server for development has it."
        {...field('uiUrl')}
      />
      <details className="fleet-details" open={isTls || texts.apiKeyPath !== ''}>
        <summary>Encryption and keys</summary>
        <div className="stack fleet-secure">
          <Checkbox isSelected={isTls} onChange={setTls}>
            Encrypt the connection
          </Checkbox>
          <p className="small faint">
            Dray reads these files on this computer when it connects. The window keeps their paths alone.
          </p>
          <Field label="Certificate of its authority" isCode {...field('caPath')} />
          <Field label="Certificate of this client" isCode {...field('certPath')} />
          <Field label="Key of this client" isCode {...field('keyPath')} />
          <Field label="Name in its certificate" {...field('serverName')} />
          <Field label="File with an API key" isCode {...field('apiKeyPath')} />
          <Field
            label="File with the key of the payloads"
            isCode
            help="Jobs and workers encrypt with the same file."
            {...field('payloadKeyPath')}
          />
        </div>
      </details>
      {failure && <ErrorNotice error={failure} advice="" />}
    </FormDialog>
  );
}

function textsOf(server: FleetServer | undefined): Texts {
  if (!server) return EMPTY;
  const { isGiven: _, tls: __, ...texts } = server;
  return { ...EMPTY, ...texts };
}

function serverOf(texts: Texts, isTls: boolean): FleetServer {
  const trimmed = Object.entries(texts).map(([name, value]) => [name, value.trim()] as const);
  const given = trimmed.filter(([name, value]) => value !== '' || REQUIRED.includes(name as keyof Texts));
  const server = Object.fromEntries(given) as unknown as FleetServer;
  return {
    ...server,
    name: server.name || server.address,
    namespace: server.namespace || EMPTY.namespace,
    queue: server.queue || EMPTY.queue,
    ...(isTls && { tls: true }),
  };
}
