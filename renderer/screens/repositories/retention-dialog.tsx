/** Edits the retention policy of a repository. Its effect is shown for each commit before it is applied. */
import { useState } from 'react';
import type { KeepReason } from '../../../engine/api/events.ts';
import type { RetentionRow } from '../../../engine/api/host/repositories.ts';
import type { RetentionPolicy } from '../../../engine/api/jobs/jobs.ts';
import { formatCount, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/controls/button.tsx';
import { Checkbox, Field } from '../../design/controls/field.tsx';
import { formatMoment } from '../../design/format.ts';
import { ConfirmDialog, Dialog } from '../../design/overlays/dialog.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { showToast } from '../../shell/toasts/toasts.tsx';
import { subjectOf } from '../history/commit-words.ts';
import {
  countError,
  formOfPolicy,
  isReadable,
  isSamePolicy,
  patternsOf,
  policyOf,
  type RetentionForm,
  withinError,
} from './retention-form.ts';

const ROWS_MAX = 2_000;
const TAGS_NAMED_MAX = 5;

export interface RetentionDialogProps {
  readonly name: string;
  readonly root: string;
  readonly onClose: () => void;
  /** Commits were forgotten. */
  readonly onForgot: () => void;
}

/** The rules that are kept with the repository come first. */
export function RetentionDialog(props: RetentionDialogProps) {
  const saved = useAsk('repositories.policy', { root: props.root });
  // Asked anew at each opening: another machine may have changed them.
  const found = saved.isFetching ? undefined : saved.data;
  if (found) return <Rules {...props} saved={found.policy} />;
  return (
    <Dialog title={`Retention of ${props.name}`} isOpen size="large" onClose={props.onClose}>
      <AnswerState of={saved} label="Reading the rules" title="Cannot read the rules" isAnew />
    </Dialog>
  );
}

function Rules({
  name,
  root,
  saved,
  onClose,
  onForgot,
}: RetentionDialogProps & { readonly saved: RetentionPolicy | undefined }) {
  const [form, setForm] = useState(() => formOfPolicy(saved));
  const [isKept, setKept] = useState(true);
  const [gone, setGone] = useState('');
  const tags = patternsOf(gone);
  const [isAsked, setAsked] = useState(false);
  const policy = policyOf(form);
  const plan = useAsk(
    'repositories.planForget',
    { root, policy: policy ?? {}, ...tags, limit: ROWS_MAX },
    { when: policy !== undefined, keepsPrevious: true },
  );
  const apply = useDo('repositories.forget', { refreshes: ['history.list'] });
  // While the rules change, the rows of the earlier ones are shown, and nothing can be applied.
  const found = policy && !plan.isPlaceholderData && !plan.error ? plan.data : undefined;
  const forgotten = found?.forgotten ?? 0;
  const removedTags = found?.removedTags ?? [];
  const what = goneWords(forgotten, removedTags.length);
  const isNew = isKept && !isSamePolicy(policy, saved);
  const submit = () => {
    if (!policy || !found) return;
    const done = what === '' ? `The rules of ${name} are saved` : `Forgot ${what} of ${name}`;
    apply.mutate(
      { root, policy, ...tags, save: isKept, expected: forgotten },
      {
        onSuccess: () => {
          showToast({ tone: 'success', title: done });
          (what === '' ? onClose : onForgot)();
        },
        // The history may have changed: the rows show it.
        onError: () => void plan.refetch(),
      },
    );
  };
  if (isAsked)
    return (
      <Confirm
        name={name}
        forgotten={forgotten}
        removedTags={removedTags}
        onClose={() => setAsked(false)}
        onConfirm={submit}
      />
    );
  return (
    <Dialog
      title={`Retention of ${name}`}
      isOpen
      isForm
      size="large"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look={what === '' ? 'primary' : 'danger'}
            isDisabled={!found || (what === '' && !isNew)}
            isPending={apply.isPending}
            onPress={() => (what === '' ? submit() : setAsked(true))}
          >
            {what === '' ? 'Save the rules' : `Forget ${what}...`}
          </Button>
        </>
      }
    >
      <div className="stack">
        <RuleFields form={form} set={(change) => setForm((before) => ({ ...before, ...change }))} />
        <Field
          label="Tags to forget (optional)"
          help="Patterns, such as draft-*. They remove tags once, except those that the rules keep. They are not kept with the rules."
          value={gone}
          onChange={setGone}
          isCode
        />
        <Checkbox isSelected={isKept} onChange={setKept}>
          Keep these rules with the repository, for jobs and other machines
        </Checkbox>
        {apply.error && <ErrorNotice error={apply.error} />}
        {policy === undefined ? (
          <p className="soft" role="status">
            {isReadable(form)
              ? 'Without a rule every commit stays.'
              : 'Correct the marked field to see what the rules forget.'}
          </p>
        ) : (
          <>
            <p role="status">
              {found && `Would forget ${commitsOf(forgotten)} and keep ${formatCount(found.stay)}.`}
              {removedTags.length > 0 && ` Would remove ${tagsOf(removedTags)}.`}
            </p>
            {plan.data ? (
              <Verdicts rows={plan.data.commits} of={plan.data.stay + plan.data.forgotten} />
            ) : (
              <AnswerState of={plan} label="Reading the commits" title="Cannot try these rules" />
            )}
            {plan.data && plan.error && <ErrorNotice error={plan.error} />}
          </>
        )}
      </div>
    </Dialog>
  );
}

function commitsOf(count: number): string {
  return formatPlural(count, 'commit');
}

function goneWords(commits: number, tags: number): string {
  const parts = [
    ...(commits > 0 ? [commitsOf(commits)] : []),
    ...(tags > 0 ? [formatPlural(tags, 'tag')] : []),
  ];
  return parts.join(' and ');
}

/** Names a few. */
function tagsOf(tags: readonly string[]): string {
  const more = tags.length - TAGS_NAMED_MAX;
  const named = tags.slice(0, TAGS_NAMED_MAX).join(', ');
  const rest = more > 0 ? ` and ${formatCount(more)} more` : '';
  return `the ${tags.length === 1 ? 'tag' : 'tags'} ${named}${rest}`;
}

interface ConfirmProps {
  readonly name: string;
  readonly forgotten: number;
  readonly removedTags: readonly string[];
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

function Confirm({ name, forgotten, removedTags, onClose, onConfirm }: ConfirmProps) {
  const what = goneWords(forgotten, removedTags.length);
  return (
    <ConfirmDialog
      title={`Forget ${what} of ${name}?`}
      isOpen
      isDanger
      onClose={onClose}
      action={`Forget ${what}`}
      onConfirm={onConfirm}
    >
      <div className="stack">
        {removedTags.length > 0 && <p>Removes {tagsOf(removedTags)}.</p>}
        {forgotten > 0 && (
          <p>
            {forgotten === 1 ? 'It stays' : 'They stay'} in the log, but {forgotten === 1 ? 'its' : 'their'}{' '}
            files can no longer be read, here and on every other machine. There is no undo. The next
            collection of garbage removes from the store what only {forgotten === 1 ? 'it' : 'they'} needed.
          </p>
        )}
      </div>
    </ConfirmDialog>
  );
}

const COUNTS: readonly (readonly [name: 'last' | 'daily' | 'weekly' | 'monthly', label: string])[] = [
  ['last', 'Newest commits'],
  ['daily', 'Days'],
  ['weekly', 'Weeks'],
  ['monthly', 'Months'],
];

function RuleFields({
  form,
  set,
}: {
  readonly form: RetentionForm;
  readonly set: (change: Partial<RetentionForm>) => void;
}) {
  return (
    <>
      <p className="soft">
        A commit stays if one rule keeps it, or if a branch or a tag names it. Of a day, a week or a month
        with commits, the newest one counts.
      </p>
      <div className="retention-rules">
        {COUNTS.map(([rule, label]) => (
          <Field
            key={rule}
            label={label}
            value={form[rule]}
            onChange={(value) => set({ [rule]: value })}
            error={countError(form[rule])}
            inputMode="numeric"
            autoFocus={rule === 'last'}
          />
        ))}
        <Field
          label="Newer than"
          help="Such as 30d or 1y6m"
          value={form.within}
          onChange={(within) => set({ within })}
          error={withinError(form.within)}
        />
        <Field
          label="Tags to keep"
          help="Patterns, such as v*"
          value={form.tags}
          onChange={(tags) => set({ tags })}
          isCode
        />
      </div>
    </>
  );
}

function Verdicts({ rows, of }: { readonly rows: readonly RetentionRow[]; readonly of: number }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by keyboard */}
      <section className="retention-rows" tabIndex={0} aria-label="Commits">
        <ul>
          {rows.map((row) => (
            <Verdict key={row.commit} row={row} />
          ))}
        </ul>
      </section>
      {rows.length < of && (
        <p className="small faint">
          The newest {formatCount(rows.length)} of {formatCount(of)}; the figures above count all.
        </p>
      )}
    </>
  );
}

function Verdict({ row: { commit, keptBy, message, time } }: { readonly row: RetentionRow }) {
  const isKept = keptBy.length > 0;
  return (
    <li className={isKept ? '' : 'is-forgotten'}>
      <Badge tone={isKept ? 'added' : 'deleted'}>{isKept ? 'Keep' : 'Forget'}</Badge>
      <span className="cut retention-subject">{subjectOf({ message })}</span>
      <span className="small faint cut">{[...new Set(keptBy.map(reasonWords))].join(', ')}</span>
      <time className="small faint" dateTime={time}>
        {formatMoment(time)}
      </time>
      <span className="code small faint">{formatHash(commit)}</span>
    </li>
  );
}

/** As the terminal names it. */
function reasonWords({ ref, rule }: KeepReason): string {
  return rule === 'ref' ? ref : rule;
}
