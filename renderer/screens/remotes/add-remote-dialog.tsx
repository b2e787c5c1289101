/** The form for a new remote. What it makes can be tested before it is kept. */
import { useState } from 'react';
import type { AccessKeys } from '../../../engine/api/host.ts';
import { Button } from '../../design/button.tsx';
import { Segmented } from '../../design/choices.tsx';
import { FormDialog } from '../../design/dialog.tsx';
import { Field } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { useHost, useRefresh } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts.tsx';
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
import { RemoteTest } from './remote-test.tsx';

interface AddRemoteDialogProps {
  readonly start: PlaceFields;
  readonly taken: ReadonlySet<string>;
  readonly onClose: () => void;
}

export function AddRemoteDialog({ start, taken, onClose }: AddRemoteDialogProps) {
  const [fields, setFields] = useState(start);
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [tested, setTested] = useState<{ readonly url: string; readonly keys?: AccessKeys | undefined }>();
  const host = useHost();
  const refresh = useRefresh();
  const credentials = useCredentials();
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
      await credentials.use(fields, (url) => host.ask('remotes.add', { name: fields.name, url }));
      await refresh('remotes.list');
      showToast({ tone: 'success', title: `${fields.name} is one of your remotes` });
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const test = async (): Promise<void> => {
    setTried(true);
    if (!isWhole) return;
    try {
      if (fields.kind === 'peer' && fields.token !== '') await credentials.saveToken(fields.token);
      setTested({ url: urlOf(credentials.withProfile(fields)), keys: fields.typedKeys });
    } catch (error) {
      showFailure('The token was not kept', error);
    }
  };
  return (
    <FormDialog
      title="Add a remote"
      onClose={onClose}
      action="Add"
      onSubmit={() => void submit()}
      isDisabled={isBusy}
      extraActions={
        <Button icon="check" onPress={() => void test()}>
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
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {tested && <RemoteTest target={tested.url} keys={tested.keys} />}
    </FormDialog>
  );
}

function FieldsOfKind(props: PlaceFormProps) {
  const bind = bindTo(props);
  const { kind } = props.fields;
  return (
    <>
      <Field label="Name" placeholder="lab" help="What you will call it here." autoFocus {...bind('name')} />
      {kind === 's3' && <BucketFields {...props} />}
      {kind === 'peer' && <PeerFields {...props} />}
      {kind === 'folder' && (
        <Field
          label="Folder"
          isCode
          placeholder="/media/disk/backup"
          help="On this computer, or on a disk that is mounted here."
          {...bind('folder')}
        />
      )}
    </>
  );
}
