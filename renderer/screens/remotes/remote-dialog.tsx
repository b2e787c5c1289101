/** The form for a new remote, or for one that is changed. It can be tested before it is saved. */
import { useState } from 'react';
import { Button } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { Field } from '../../design/controls/field.tsx';
import { keysOf } from '../../design/controls/key-pair.tsx';
import { FormDialog } from '../../design/overlays/dialog.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useHost, useRefresh } from '../../host/use-host.tsx';
import { useIsHere } from '../../host/use-is-here.ts';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';
import { BucketFields } from '../place-form/bucket-fields.tsx';
import { PeerFields } from '../place-form/peer-fields.tsx';
import {
  findFaults,
  findNameFault,
  type PlaceFaults,
  type PlaceFields,
  type PlaceKind,
  urlOf,
} from '../place-form/place-fields.ts';
import { bindTo, type PlaceFormProps } from '../place-form/place-form-props.ts';
import { useCredentials } from '../place-form/use-credentials.ts';
import { TryRemote, type TryRemoteProps } from './try-remote.tsx';

interface RemoteDialogProps {
  readonly start: PlaceFields;
  /** The name of the remote that is changed; absent for a new one. */
  readonly edits?: string | undefined;
  /** The names of other remotes. */
  readonly taken: ReadonlySet<string>;
  readonly onClose: () => void;
}

export function RemoteDialog({ start, edits, taken, onClose }: RemoteDialogProps) {
  const [fields, setFields] = useState(start);
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Failed>();
  const [tested, setTested] = useState<TryRemoteProps>();
  const host = useHost();
  const refresh = useRefresh();
  const credentials = useCredentials();
  const isHere = useIsHere();
  const nameFault = findNameFault(fields.name, taken);
  const faults: PlaceFaults = { ...findFaults(fields), ...(nameFault ? { name: nameFault } : {}) };
  const isWhole = Object.keys(faults).length === 0;
  const change = (next: Partial<PlaceFields>): void => {
    setFields({ ...fields, ...next });
    setTested(undefined);
  };
  const submit = async (): Promise<void> => {
    setTried(true);
    if (!isWhole || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const { name } = fields;
      await credentials.use(fields, (url) =>
        edits === undefined
          ? host.ask('remotes.add', { name, url })
          : host.ask('remotes.change', { name: edits, to: { name, url } }),
      );
      await refresh('remotes.list');
      const title = edits === undefined ? `${name} is one of your remotes` : `${name} is changed`;
      showToast({ tone: 'success', title });
      if (isHere()) onClose();
    } catch (error) {
      if (!isHere()) showFailure(`${fields.name} was not saved`, error);
      setProblem(toFailed(error));
      setBusy(false);
    }
  };
  const test = (): void => {
    setTried(true);
    if (!isWhole) return;
    const token = fields.kind === 'peer' && fields.token !== '' ? fields.token : undefined;
    setTested({
      target: urlOf(credentials.withProfile(fields)),
      keys: fields.typedKeys && keysOf(fields.typedKeys),
      token,
    });
  };
  return (
    <FormDialog
      title={edits === undefined ? 'Add a remote' : `Edit ${edits}`}
      onClose={onClose}
      action={edits === undefined ? 'Add' : 'Save'}
      onSubmit={() => void submit()}
      isPending={isBusy}
      extraActions={
        <Button icon="check" onPress={test}>
          Test
        </Button>
      }
    >
      <Segmented<PlaceKind>
        label="Kind of remote"
        value={fields.kind}
        onChange={(kind) => change({ kind })}
        choices={[
          { id: 's3', label: 'Bucket', icon: 'cloud' },
          { id: 'folder', label: 'Folder', icon: 'drive' },
          { id: 'peer', label: 'Another machine', icon: 'transfers' },
        ]}
      />
      <FieldsOfKind
        fields={fields}
        change={change}
        faults={isTried ? faults : {}}
        credentials={credentials}
      />
      {isWhole && (
        <p className="small faint remote-made">
          Its address: <span className="code">{urlOf(credentials.withProfile(fields))}</span>
        </p>
      )}
      {problem && <ErrorNotice error={problem} onMended={() => void submit()} />}
      {tested && <TryRemote {...tested} />}
    </FormDialog>
  );
}

function FieldsOfKind(props: PlaceFormProps) {
  const bind = bindTo(props);
  const { kind } = props.fields;
  return (
    <>
      <Field label="Name" help="What you will call it here, such as lab." autoFocus {...bind('name')} />
      {kind === 's3' && <BucketFields {...props} />}
      {kind === 'peer' && <PeerFields {...props} />}
      {kind === 'address' && <Field label="Address" isCode {...bind('address')} />}
      {kind === 'folder' && (
        <Field
          label="Folder"
          isCode
          help="Such as /media/disk/backup: on this computer, or on a disk that is mounted here."
          {...bind('folder')}
        />
      )}
    </>
  );
}
