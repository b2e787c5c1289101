/** Who is told of a job's runs, and when. Closed at first: most jobs need no more than the usual. */
import { useId } from 'react';
import { Button } from '../../../design/button.tsx';
import { Checkbox, Field, Select } from '../../../design/field.tsx';
import { Notice } from '../../../design/states.tsx';
import { ErrorNotice } from '../../../failures/failure.tsx';
import { useDo } from '../../../host/use-host.tsx';
import {
  areDays,
  hasReceiver,
  type NoticeForm,
  noticesIn,
  noticeWords,
  type WebhookKind,
} from './notice-draft.ts';

const WEBHOOKS: readonly { readonly id: WebhookKind; readonly label: string }[] = [
  { id: 'none', label: 'None' },
  { id: 'url', label: 'To a URL' },
  { id: 'file', label: 'To a URL that a file holds' },
];

interface NoticeFieldsProps {
  readonly name: string;
  readonly form: NoticeForm;
  readonly set: (change: Partial<NoticeForm>) => void;
}

type PartProps = Omit<NoticeFieldsProps, 'name'>;

export function NoticeFields({ name, form, set }: NoticeFieldsProps) {
  return (
    <details className="job-notice-fields">
      <summary>
        Notices: <span className="soft">{noticeWords(form)}</span>
      </summary>
      <div className="stack">
        <When form={form} set={set} />
        <Checkbox isSelected={form.desktop} onChange={(desktop) => set({ desktop })}>
          Notifications on this computer
        </Checkbox>
        <Webhook form={form} set={set} />
        <Field
          label="Run a command"
          value={form.command}
          onChange={(command) => set({ command })}
          help="Its environment says which job it is and what happened."
          isCode
        />
        <Mail form={form} set={set} />
        <p className="small faint">No notice holds a secret, and none is saved with the job.</p>
        <Test name={name} form={form} />
      </div>
    </details>
  );
}

function When({ form, set }: PartProps) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like the other fields
    <div role="group" aria-labelledby={id} className="stack job-notice-when">
      <span id={id} className="field-label">
        When
      </span>
      <Checkbox isSelected={form.onFailure} onChange={(onFailure) => set({ onFailure })}>
        It fails
      </Checkbox>
      <Checkbox isSelected={form.onRecovery} onChange={(onRecovery) => set({ onRecovery })}>
        It works again
      </Checkbox>
      <Field
        label="After days without success"
        value={form.days}
        onChange={(days) => set({ days })}
        help="Such as 7. Leave it empty for never."
        error={areDays(form.days) ? undefined : 'It must be a number from 1 to 3650.'}
        inputMode="numeric"
      />
    </div>
  );
}

function Webhook({ form, set }: PartProps) {
  const { webhookKind } = form;
  return (
    <>
      <Select
        label="Webhook"
        choices={WEBHOOKS}
        value={webhookKind}
        onChange={(kind) => set({ webhookKind: kind })}
      />
      {webhookKind === 'url' && (
        <Field
          label="URL"
          value={form.webhook}
          onChange={(webhook) => set({ webhook })}
          help="It gets a JSON object. A URL that is itself a secret belongs in a file."
          isCode
        />
      )}
      {webhookKind === 'file' && (
        <Field
          label="File with the URL"
          value={form.webhookUrlFile}
          onChange={(webhookUrlFile) => set({ webhookUrlFile })}
          isCode
        />
      )}
      {webhookKind !== 'none' && (
        <Field
          label="File with a key to sign it"
          value={form.webhookKeyFile}
          onChange={(webhookKeyFile) => set({ webhookKeyFile })}
          help="May be empty"
          isCode
        />
      )}
    </>
  );
}

function Mail({ form, set }: PartProps) {
  return (
    <>
      <Field
        label="Mail to"
        value={form.mailTo}
        onChange={(mailTo) => set({ mailTo })}
        help="Addresses with a comma between them"
      />
      {form.mailTo.trim() !== '' && (
        <>
          <Field label="Mail from" value={form.mailFrom} onChange={(mailFrom) => set({ mailFrom })} />
          <Field
            label="Mail server"
            value={form.mailServer}
            onChange={(mailServer) => set({ mailServer })}
            help="smtps://HOST:PORT, or smtp://HOST:PORT for STARTTLS"
            isCode
          />
          <Field
            label="User of the server"
            value={form.mailUser}
            onChange={(mailUser) => set({ mailUser })}
          />
          <Field
            label="File with the password"
            value={form.mailPasswordFile}
            onChange={(mailPasswordFile) => set({ mailPasswordFile })}
            isCode
          />
          <Field
            label="Or a command that prints the password"
            value={form.mailPasswordCommand}
            onChange={(mailPasswordCommand) => set({ mailPasswordCommand })}
            isCode
          />
        </>
      )}
    </>
  );
}

function Test({ name, form }: Pick<NoticeFieldsProps, 'name' | 'form'>) {
  const test = useDo('saved.testNotice');
  const notices = noticesIn(form);
  const problems = test.data?.problems ?? [];
  if (!hasReceiver(form)) return null;
  return (
    <>
      <div>
        <Button
          icon="link"
          isDisabled={!notices}
          isPending={test.isPending}
          onPress={() => notices && test.mutate({ name: name || 'new-job', notices })}
        >
          Send a test notice
        </Button>
      </div>
      <div role="status">
        {test.isSuccess && problems.length === 0 && <Notice tone="success">A test notice was sent.</Notice>}
        {problems.map((problem) => (
          <Notice key={problem} tone="warning">
            {problem}
          </Notice>
        ))}
      </div>
      {test.error && <ErrorNotice error={test.error} lead="No test notice was sent." />}
    </>
  );
}
