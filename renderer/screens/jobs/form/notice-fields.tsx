/**
 * The fields for the notices of a job: when Dray sends one, and to whom. They are folded at first, because
 * the defaults suit most jobs.
 */
import '../jobs.css';
import { useId } from 'react';
import { Checkbox, Select } from '../../../design/controls/field.tsx';
import { FormField } from './form-field.tsx';
import { areDays, type NoticeForm, noticeWords, type WebhookKind } from './notice-draft.ts';
import { NoticeTest } from './notice-test.tsx';

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

export function NoticeFields({ name, ...part }: NoticeFieldsProps) {
  const { form, set } = part;
  return (
    <details className="job-notice-fields">
      <summary>
        Notices: <span className="soft">{noticeWords(form)}</span>
      </summary>
      <div className="stack">
        <When {...part} />
        <Checkbox isSelected={form.desktop} onChange={(desktop) => set({ desktop })}>
          Notifications on this computer
        </Checkbox>
        <Webhook {...part} />
        <FormField
          {...part}
          label="Run a command"
          name="command"
          help="Its environment says which job it is and what happened."
          isCode
        />
        <Mail {...part} />
        <p className="small faint">No notice holds a secret, and none is saved with the job.</p>
        <NoticeTest name={name} form={form} />
      </div>
    </details>
  );
}

function When(part: PartProps) {
  const { form, set } = part;
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
      <FormField
        {...part}
        label="After days without success"
        name="days"
        help="Such as 7. Leave it empty for never."
        error={areDays(form.days) ? undefined : 'It must be a number from 1 to 3650.'}
        inputMode="numeric"
      />
    </div>
  );
}

function Webhook(part: PartProps) {
  const { form, set } = part;
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
        <FormField
          {...part}
          label="URL"
          name="webhook"
          help="It gets a JSON object. A URL that is itself a secret belongs in a file."
          isCode
        />
      )}
      {webhookKind === 'file' && (
        <FormField {...part} label="File with the URL" name="webhookUrlFile" isCode />
      )}
      {webhookKind !== 'none' && (
        <FormField
          {...part}
          label="File with a key to sign it"
          name="webhookKeyFile"
          help="May be empty"
          isCode
        />
      )}
    </>
  );
}

function Mail(part: PartProps) {
  const { form } = part;
  return (
    <>
      <FormField {...part} label="Mail to" name="mailTo" help="Addresses with a comma between them" />
      {form.mailTo.trim() !== '' && (
        <>
          <FormField {...part} label="Mail from" name="mailFrom" />
          <FormField
            {...part}
            label="Mail server"
            name="mailServer"
            help="smtps://HOST:PORT, or smtp://HOST:PORT for STARTTLS"
            isCode
          />
          <FormField {...part} label="User of the server" name="mailUser" />
          <FormField {...part} label="File with the password" name="mailPasswordFile" isCode />
          <FormField
            {...part}
            label="Or a command that prints the password"
            name="mailPasswordCommand"
            isCode
          />
        </>
      )}
    </>
  );
}
