/** Makes or edits a job. The command checks it, so its errors are those of a typed line. */
import { useState } from 'react';
import type { SavedJobCard } from '../../../../engine/api/host/saved.ts';
import { Button } from '../../../design/controls/button.tsx';
import { Checkbox, Field, Select } from '../../../design/controls/field.tsx';
import { FormDialog } from '../../../design/overlays/dialog.tsx';
import { Notice } from '../../../design/states.tsx';
import { ErrorNotice } from '../../../failures/failure.tsx';
import { useDo } from '../../../host/use-host.tsx';
import { showToast } from '../../../shell/toasts/toasts.tsx';
import { useWorkspaces } from '../../../shell/use-workspace.ts';
import { JOBS_AND_PASSWORDS } from '../../passwords/passwords-dialog.tsx';
import { triggerWords } from '../job-words.ts';
import { FormField } from './form-field.tsx';
import {
  canWatch,
  draftOf,
  formOf,
  hasTwoPlaces,
  isComplete,
  isTime,
  type JobForm,
  type JobKind,
  type Schedule,
} from './job-draft.ts';
import { formOfJob } from './job-to-form.ts';
import { withKnownMail } from './notice-draft.ts';
import { NoticeFields } from './notice-fields.tsx';

const KINDS: readonly { readonly id: JobKind; readonly label: string; readonly note: string }[] = [
  { id: 'copy', label: 'Copy', note: 'Copies new and changed files. Deletes nothing.' },
  { id: 'sync', label: 'Sync', note: 'Makes the destination identical, and deletes what only it has.' },
  { id: 'check', label: 'Check', note: 'Compares both sides. Changes nothing.' },
  { id: 'push', label: 'Push', note: 'Stores the changes of a workspace as a commit.' },
  { id: 'pull', label: 'Pull', note: 'Brings a workspace up to date.' },
  { id: 'verify', label: 'Verify', note: 'Checks that a repository has everything that its commits need.' },
  {
    id: 'forget',
    label: 'Forget',
    note: 'Applies the retention policy: the one kept with the repository, or rules in Options.',
  },
  { id: 'gc', label: 'Collect garbage', note: 'Removes from the store what no commit needs any more.' },
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

export interface JobDialogProps {
  /** The job to edit, as it was when the form was opened. */
  readonly edits?: SavedJobCard;
  /** The values that an address gave to a new job. */
  readonly given?: Readonly<Record<string, string>>;
  /** All jobs as they are now. */
  readonly jobs: readonly SavedJobCard[];
  /** Nothing was saved. */
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function JobDialog({ edits, given = {}, jobs, onClose, onSaved }: JobDialogProps) {
  const [form, setForm] = useState(() => (edits ? formOfJob(edits) : formOf(given)));
  const now = edits && jobs.find(({ name }) => name === edits.name);
  const save = useDo('saved.save');
  const set = (change: Partial<JobForm>) => setForm((before) => ({ ...before, ...change }));
  const part = { form, set };
  const isEdit = form.version !== undefined;
  // The new list may come before the answer.
  const isTaken =
    form.name !== form.savedName &&
    !save.isPending &&
    !save.isSuccess &&
    jobs.some(({ name }) => name === form.name);
  const submit = () => {
    // While one is under way, Enter starts no second one.
    if (save.isPending) return;
    save.mutate(draftOf(form), {
      onSuccess: () => {
        showToast({ tone: 'success', title: `${form.name} is saved` });
        onSaved();
      },
    });
  };
  return (
    <FormDialog
      title={isEdit ? `Edit ${form.savedName}` : 'New job'}
      action="Save"
      onClose={onClose}
      isDisabled={!isComplete(form) || isTaken}
      onSubmit={submit}
    >
      {isEdit && !save.isPending && !save.isSuccess && (
        <Meanwhile
          form={form}
          now={now}
          onReload={(job) => {
            setForm(formOfJob(job));
            save.reset();
          }}
        />
      )}
      {given.from === 'changes' && <Left kind={form.kind} />}
      <FormField
        {...part}
        label="Name"
        name="name"
        help={
          isEdit && form.name !== form.savedName
            ? 'Its runs, log and schedule stay. Scripts that start it by its old name have to be changed.'
            : 'a to z, 0 to 9, dots and dashes, such as night'
        }
        error={isTaken ? 'There is a job of this name already.' : undefined}
        maxLength={63}
        autoFocus={!isEdit}
      />
      <Command {...part} />
      <When {...part} />
      <NoticeFields
        name={form.name}
        form={form.notices}
        set={(change) =>
          set({ notices: withKnownMail({ ...form.notices, ...change }, 'mailTo' in change ? jobs : []) })
        }
      />
      {save.error && (save.error.code !== 'conflict' || now?.version === form.version) && (
        <ErrorNotice error={save.error} lead="The job was not saved." />
      )}
    </FormDialog>
  );
}

/** Names what a job cannot keep of the list in Changes that it was made from. */
function Left({ kind }: Pick<JobForm, 'kind'>) {
  if (kind === 'push')
    return (
      <Notice>
        Ticks and decisions in Changes are not kept. Each run pushes all that has changed by then, and stops
        at a conflict.
      </Notice>
    );
  return kind === 'pull' ? (
    <Notice>
      Decisions in Changes are not kept. Each run pulls what is new by then, and stops at a conflict unless
      its options say which side stays.
    </Notice>
  ) : null;
}

/** Says that the job was changed or removed while its form is open. */
function Meanwhile({
  form,
  now,
  onReload,
}: {
  readonly form: JobForm;
  readonly now: SavedJobCard | undefined;
  readonly onReload: (job: SavedJobCard) => void;
}) {
  if (!now) return <Notice tone="warning">This job was removed or renamed meanwhile.</Notice>;
  if (now.version !== form.version)
    return (
      <Notice
        tone="warning"
        actions={
          <Button size="small" onPress={() => onReload(now)}>
            Show it as it is now
          </Button>
        }
      >
        This job was changed meanwhile, in another window or by a command. It cannot be saved over that
        change.
      </Notice>
    );
  return now.state === 'running' ? (
    <Notice>It is running. This run keeps its settings; the next one uses what you save.</Notice>
  ) : null;
}

interface PartProps {
  readonly form: JobForm;
  readonly set: (change: Partial<JobForm>) => void;
}

function Command(part: PartProps) {
  const { form, set } = part;
  const { directory, kind, line } = form;
  if (line !== undefined)
    return (
      <>
        <Field
          label="Command"
          value={line}
          onChange={(next) => set({ line: next })}
          help="The words after dray. They have options that this form has no fields for."
          rows={3}
          isCode
        />
        <Field
          label="Folder that it runs in"
          value={hasTwoPlaces(kind) ? directory : form.root}
          onChange={(value) => set({ directory: value, root: value })}
          isCode
        />
      </>
    );
  return (
    <>
      <Select label="What it does" choices={KINDS} value={kind} onChange={(next) => set({ kind: next })} />
      <Places {...part} />
      <PasswordNotice form={form} />
      <FormField
        {...part}
        label="Options"
        name="options"
        help="The options of the command of this name, with a space between them. Leave it empty for the usual ones."
        isCode
      />
    </>
  );
}

/** A run asks nobody. */
function PasswordNotice({ form: { kind, root } }: Pick<PartProps, 'form'>) {
  const { all } = useWorkspaces();
  const isEncrypted = all?.find((workspace) => workspace.root === root)?.isEncrypted ?? false;
  return isEncrypted && !hasTwoPlaces(kind) ? <Notice>{JOBS_AND_PASSWORDS}</Notice> : null;
}

function Places(part: PartProps) {
  const { form, set } = part;
  const { kind, root, version } = form;
  const { all } = useWorkspaces();
  if (hasTwoPlaces(kind))
    return (
      <>
        <FormField
          {...part}
          label="Source"
          name="source"
          help="A folder, an address such as s3://bucket/photos, or one of your remotes: NAME:PREFIX"
          isCode
        />
        <FormField {...part} label="Destination" name="destination" isCode />
        {version !== undefined && (
          <FormField {...part} label="Folder that relative paths start from" name="directory" isCode />
        )}
      </>
    );
  const known = all?.map(({ name, root: id }) => ({ id, label: name, note: id })) ?? [];
  const isKnown = root === '' || known.some(({ id }) => id === root);
  const choices = isKnown ? known : [{ id: root, label: root }, ...known];
  return choices.length > 0 ? (
    <Select label="Workspace" choices={choices} value={root} onChange={(value) => set({ root: value })} />
  ) : (
    <Field label="Folder of the workspace" value={root} onChange={(value) => set({ root: value })} isCode />
  );
}

function When(part: PartProps) {
  const { form, set } = part;
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
        <FormField {...part} label="Every" name="every" help="Such as 30m, 2h or 1d" />
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
        <FormField
          {...part}
          label="Time"
          name="time"
          help="Local time, such as 03:00"
          error={isTime(form.time) ? undefined : 'It must be a time such as 03:00.'}
        />
      )}
      {schedule === 'cron' && (
        <FormField {...part} label="Cron" name="cron" help="Minute, hour, day, month, weekday" isCode />
      )}
      {canWatch(form.kind) && (
        <Checkbox isSelected={form.onChange} onChange={(onChange) => set({ onChange })}>
          When something changes in the {hasTwoPlaces(form.kind) ? 'source' : 'workspace'}
        </Checkbox>
      )}
      {canWatch(form.kind) && form.onChange && (
        <FormField {...part} label="Once nothing has changed for" name="settle" help="Such as 5s or 2m" />
      )}
      <Checkbox isSelected={form.atLogin} onChange={(atLogin) => set({ atLogin })}>
        When you log in
      </Checkbox>
      <FormField {...part} label="When a disk is mounted at" name="onMount" isCode />
      <Kept form={form} set={set} />
    </>
  );
}

/** Starts that a command has added beside those with fields. */
function Kept({ form: { kept }, set }: PartProps) {
  return kept.map((trigger, at) => (
    <Checkbox
      key={JSON.stringify(trigger)}
      isSelected
      onChange={() => set({ kept: kept.filter((_, each) => each !== at) })}
    >
      Also {triggerWords(trigger)}
    </Checkbox>
  ));
}
