/** The form for a new remote. What it makes can be tested before it is kept. */
import { useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Segmented } from '../../design/choices.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, Field } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { useDo } from '../../host/use-host.tsx';
import { showToast } from '../../shell/toasts.tsx';
import { RemoteTest } from './remote-test.tsx';
import { type FieldFaults, findFaults, type RemoteFields, type RemoteKind, urlOf } from './url-form.ts';

interface AddRemoteDialogProps {
  readonly start: RemoteFields;
  readonly taken: ReadonlySet<string>;
  readonly onClose: () => void;
}

export function AddRemoteDialog({ start, taken, onClose }: AddRemoteDialogProps) {
  const [fields, setFields] = useState(start);
  const [isTried, setTried] = useState(false);
  const [tested, setTested] = useState<string>();
  const add = useDo('remotes.add', { refreshes: ['remotes.list'] });
  const faults = findFaults(fields, taken);
  const isWhole = Object.keys(faults).length === 0;
  const url = urlOf(fields);
  const change = (next: Partial<RemoteFields>): void => setFields({ ...fields, ...next });
  const submit = (): void => {
    setTried(true);
    if (!isWhole || add.isPending) return;
    add.mutate(
      { name: fields.name, url },
      {
        onSuccess: () => {
          showToast({ tone: 'success', title: `${fields.name} is one of your remotes` });
          onClose();
        },
      },
    );
  };
  const test = (): void => {
    setTried(true);
    if (isWhole) setTested(url);
  };
  return (
    <Dialog
      title="Add a remote"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button icon="check" onPress={test}>
            Test
          </Button>
          <Button look="primary" isDisabled={add.isPending} onPress={submit}>
            Add
          </Button>
        </>
      }
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Segmented<RemoteKind>
          label="Kind of remote"
          value={fields.kind}
          onChange={(kind) => change({ kind })}
          choices={[
            { id: 's3', label: 'Bucket', icon: 'cloud' },
            { id: 'folder', label: 'Folder', icon: 'drive' },
            { id: 'peer', label: 'Another machine', icon: 'transfers' },
          ]}
        />
        <FieldsOfKind fields={fields} change={change} faults={isTried ? faults : {}} />
        {isWhole && (
          <p className="small faint remote-made">
            Its address: <span className="code">{url}</span>
          </p>
        )}
        {add.error && <Notice tone="danger">{add.error.message}</Notice>}
        {tested !== undefined && <RemoteTest target={tested} />}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}

function FieldsOfKind({
  fields,
  change,
  faults,
}: {
  readonly fields: RemoteFields;
  readonly change: (next: Partial<RemoteFields>) => void;
  readonly faults: FieldFaults;
}) {
  const bind = (name: Exclude<keyof RemoteFields, 'kind' | 'pathStyle'>) => ({
    value: fields[name],
    onChange: (value: string) => change({ [name]: value }),
    error: faults[name],
  });
  return (
    <>
      <Field label="Name" placeholder="lab" help="What you will call it here." autoFocus {...bind('name')} />
      {fields.kind === 's3' && (
        <>
          <div className="field-pair">
            <Field label="Bucket" isCode {...bind('bucket')} />
            <Field label="Folder in it (optional)" isCode {...bind('prefix')} />
          </div>
          <Field
            label="Endpoint (optional)"
            isCode
            placeholder="https://s3.example.org"
            help="Only for stores that are not Amazon's own."
            {...bind('endpoint')}
          />
          <div className="field-pair">
            <Field label="Region (optional)" isCode placeholder="eu-north-1" {...bind('region')} />
            <Field
              label="Profile (optional)"
              isCode
              help="Of ~/.aws: where the keys are. None are kept here."
              {...bind('profile')}
            />
          </div>
          <Checkbox isSelected={fields.pathStyle} onChange={(pathStyle) => change({ pathStyle })}>
            The bucket stands in the path, not in the host's name
          </Checkbox>
        </>
      )}
      {fields.kind === 'folder' && (
        <Field
          label="Folder"
          isCode
          placeholder="/media/disk/backup"
          help="On this computer, or on a disk that is mounted here."
          {...bind('folder')}
        />
      )}
      {fields.kind === 'peer' && (
        <div className="field-pair">
          <Field
            label="Machine"
            isCode
            placeholder="lab-2:7443"
            help='Where "dray serve" runs.'
            {...bind('host')}
          />
          <Field label="Folder in it (optional)" isCode {...bind('prefix')} />
        </div>
      )}
    </>
  );
}
