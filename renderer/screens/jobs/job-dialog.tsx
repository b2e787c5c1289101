/** Makes a job. The command checks it, so its errors are those of a typed line. */
import { useState } from 'react';
import { FormDialog } from '../../design/dialog.tsx';
import { Checkbox, Field, Select } from '../../design/field.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useDo } from '../../host/use-host.tsx';
import { showToast } from '../../shell/toasts.tsx';
import { useWorkspaces } from '../../shell/use-workspace.ts';
import {
  canWatch,
  draftOf,
  hasTwoPlaces,
  isComplete,
  isTime,
  type JobForm,
  type JobKind,
  type Schedule,
} from './job-draft.ts';

const KINDS: readonly { readonly id: JobKind; readonly label: string; readonly note: string }[] = [
  { id: 'copy', label: 'Copy', note: 'Copies new and changed files. Deletes nothing.' },
  { id: 'sync', label: 'Sync', note: 'Makes the destination identical, and deletes what only it has.' },
  { id: 'check', label: 'Check', note: 'Compares both sides. Changes nothing.' },
  { id: 'push', label: 'Push', note: 'Stores the changes of a workspace as a commit.' },
  { id: 'pull', label: 'Pull', note: 'Brings a workspace up to date.' },
  { id: 'verify', label: 'Verify', note: 'Checks that a repository has all that its commits need.' },
];

const SCHEDULES: readonly { readonly id: Schedule; readonly label: string }[] = [
  { id: 'none', label: 'No schedule' },
  { id: 'every', label: 'Every so often' },
  { id: 'daily', label: 'Every day' },
  { id: 'weekly', label: 'Every week' },
  { id: 'cron', label: 'By cron' },
];

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'].map(
  (label, at) => ({ id: String(at), label }),
);

export function JobDialog({ start, onClose }: { readonly start: JobForm; readonly onClose: () => void }) {
  const [form, setForm] = useState(start);
  const add = useDo('saved.add');
  const set = (change: Partial<JobForm>) => setForm((before) => ({ ...before, ...change }));
  const save = () => {
    // While one is under way, Enter starts no second one.
    if (add.isPending) return;
    add.mutate(draftOf(form), {
      onSuccess: () => {
        showToast({ tone: 'success', title: `${form.name} is saved` });
        onClose();
      },
    });
  };
  return (
    <FormDialog
      title="New job"
      action="Save"
      onClose={onClose}
      isDisabled={!isComplete(form)}
      onSubmit={save}
    >
      <Field
        label="Name"
        value={form.name}
        onChange={(name) => set({ name })}
        help="a to z, 0 to 9, dots and dashes, such as night"
        maxLength={63}
        autoFocus
      />
      <Select label="What it does" choices={KINDS} value={form.kind} onChange={(kind) => set({ kind })} />
      <Places form={form} set={set} />
      <Field
        label="Options"
        value={form.options}
        onChange={(options) => set({ options })}
        help="The options of the command of this name, with a space between them. Leave it empty for the usual ones."
        isCode
      />
      <When form={form} set={set} />
      {add.error && <ErrorNotice error={add.error} lead="The job was not saved." />}
    </FormDialog>
  );
}

interface PartProps {
  readonly form: JobForm;
  readonly set: (change: Partial<JobForm>) => void;
}

function Places({ form: { destination, kind, root, source }, set }: PartProps) {
  const { all } = useWorkspaces();
  if (hasTwoPlaces(kind))
    return (
      <>
        <Field
          label="Source"
          value={source}
          onChange={(value) => set({ source: value })}
          help="A folder, an address such as s3://bucket/photos, or one of your remotes: NAME:PREFIX"
          isCode
        />
        <Field
          label="Destination"
          value={destination}
          onChange={(value) => set({ destination: value })}
          isCode
        />
      </>
    );
  const choices = all?.map(({ name, root: id }) => ({ id, label: name, note: id })) ?? [];
  return choices.length > 0 ? (
    <Select label="Workspace" choices={choices} value={root} onChange={(value) => set({ root: value })} />
  ) : (
    <Field label="Folder of the workspace" value={root} onChange={(value) => set({ root: value })} isCode />
  );
}

function When({ form, set }: PartProps) {
  const { schedule } = form;
  return (
    <>
      <Select
        label="Schedule"
        choices={SCHEDULES}
        value={schedule}
        onChange={(next) => set({ schedule: next })}
      />
      {schedule === 'every' && (
        <Field
          label="Every"
          value={form.every}
          onChange={(every) => set({ every })}
          help="Such as 30m, 2h or 1d"
        />
      )}
      {schedule === 'weekly' && (
        <Select
          label="Day"
          choices={WEEKDAYS}
          value={form.weekday}
          onChange={(weekday) => set({ weekday })}
        />
      )}
      {(schedule === 'daily' || schedule === 'weekly') && (
        <Field
          label="Time"
          value={form.time}
          onChange={(time) => set({ time })}
          help="Local time, such as 03:00"
          error={isTime(form.time) ? undefined : 'It must be a time such as 03:00.'}
        />
      )}
      {schedule === 'cron' && (
        <Field
          label="Cron"
          value={form.cron}
          onChange={(cron) => set({ cron })}
          help="Minute, hour, day, month, weekday"
          isCode
        />
      )}
      {canWatch(form.kind) && (
        <Checkbox isSelected={form.onChange} onChange={(onChange) => set({ onChange })}>
          When something changes in the {hasTwoPlaces(form.kind) ? 'source' : 'workspace'}
        </Checkbox>
      )}
      <Checkbox isSelected={form.atLogin} onChange={(atLogin) => set({ atLogin })}>
        When you log in
      </Checkbox>
      <Field
        label="When a disk is mounted at"
        value={form.onMount}
        onChange={(onMount) => set({ onMount })}
        isCode
      />
    </>
  );
}
