/** The button that sends a test notice by each way of the form. */
import { useMutation } from '@tanstack/react-query';
import type { DrayError } from '../../../../engine/api/error.ts';
import { Button } from '../../../design/controls/button.tsx';
import { Notice } from '../../../design/states.tsx';
import { ErrorNotice } from '../../../failures/failure.tsx';
import { useAsk, useHost } from '../../../host/use-host.tsx';
import { testNotification } from '../../../shell/notify-endings.tsx';
import { hasReceiver, type NoticeForm, noticesIn } from './notice-draft.ts';

const OFF = 'Notifications on this computer are switched off in Settings.';

export function NoticeTest({ name, form }: { readonly name: string; readonly form: NoticeForm }) {
  const host = useHost();
  const { data: settings } = useAsk('settings.get', {}, { freshMs: 60_000 });
  const job = name || 'new-job';
  /** @returns What was not sent, as sentences. */
  const send = async (tested: NoticeForm): Promise<readonly string[]> => {
    const notices = noticesIn(tested);
    const isOn = settings?.notifications ?? true;
    const whyNot = !tested.desktop ? undefined : isOn ? await testNotification(job) : OFF;
    const answer =
      notices && hasReceiver(tested) ? await host.ask('saved.testNotice', { name: job, notices }) : undefined;
    return [...(whyNot ? [whyNot] : []), ...(answer?.problems ?? [])];
  };
  const test = useMutation<readonly string[], DrayError, NoticeForm>({ mutationFn: send });
  if (!form.desktop && !hasReceiver(form)) return null;
  // The form may have changed since, also while the notice was under way.
  const isOfForm = JSON.stringify(test.variables) === JSON.stringify(form);
  const problems = test.data ?? [];
  return (
    <>
      <div>
        <Button icon="link" isPending={test.isPending} onPress={() => test.mutate(form)}>
          Send a test notice
        </Button>
      </div>
      <div role="status">
        {isOfForm && test.isSuccess && problems.length === 0 && (
          <Notice tone="success">A test notice was sent.</Notice>
        )}
        {isOfForm &&
          problems.map((problem) => (
            <Notice key={problem} tone="warning">
              {problem}
            </Notice>
          ))}
      </div>
      {isOfForm && test.error && <ErrorNotice error={test.error} lead="No test notice was sent." />}
    </>
  );
}
