/** Changes which part of the dataset a workspace holds, and says first what that fetches and removes. */
import './scope-dialog.css';
import { useRef, useState } from 'react';
import type { ScopePlan } from '../../../engine/api/jobs/scope.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Figure, Figures } from '../../design/card.tsx';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { Field } from '../../design/controls/field.tsx';
import { FormDialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useStartTransfers } from '../start-transfer.ts';

export interface ScopeDialogProps {
  readonly name: string;
  readonly root: string;
  /** What it holds now. Undefined: everything. */
  readonly only: readonly string[] | undefined;
  readonly onClose: () => void;
}

const NAMED_MAX = 5;

export function ScopeDialog({ name, root, only: held, onClose }: ScopeDialogProps) {
  const [isPart, setPart] = useState(held !== undefined);
  const [patterns, setPatterns] = useState<readonly string[]>(held ?? []);
  const [typed, setTyped] = useState('');
  const start = useStartTransfers();
  const only = isPart ? patterns : null;
  const isEmpty = only?.length === 0;
  const isSame = isEqual(only, held ?? null);
  const plan = useAsk('plan.scope', { root, only }, { when: !isSame && !isEmpty, keepsPrevious: true });
  const found = isSame || isEmpty || plan.isPlaceholderData || plan.error ? undefined : plan.data;
  const isRefused = (found?.unpushed.count ?? 0) + (found?.inTheWay.count ?? 0) > 0;
  const add = () => {
    const pattern = typed.trim();
    if (pattern !== '' && !patterns.includes(pattern)) setPatterns([...patterns, pattern]);
    setTyped('');
  };
  const submit = () => {
    // Enter in the field adds first.
    if (typed.trim() !== '') return add();
    onClose();
    void start(`What ${name} holds is being changed`, [{ kind: 'scope', root, only }]);
  };
  return (
    <FormDialog
      title={`What ${name} holds`}
      action={typed.trim() === '' ? actionOf(found) : 'Add the pattern'}
      isDisabled={typed.trim() === '' && (!found || isRefused)}
      onSubmit={submit}
      onClose={onClose}
    >
      <Segmented
        label="What this folder holds"
        value={isPart ? 'part' : 'all'}
        onChange={(next) => setPart(next === 'part')}
        choices={[
          { id: 'all', label: 'Everything' },
          { id: 'part', label: 'Only a part' },
        ]}
      />
      {isPart && (
        <>
          <Patterns
            patterns={patterns}
            onDrop={(gone) => setPatterns(patterns.filter((one) => one !== gone))}
          />
          <Field
            label="Add a folder, a file or a pattern"
            help="From the root of the dataset, such as images/2024. *.csv names files in all folders."
            value={typed}
            onChange={setTyped}
            autoFocus
            isCode
            after={
              <Button isDisabled={typed.trim() === ''} onPress={add}>
                Add
              </Button>
            }
          />
        </>
      )}
      {isEmpty ? (
        <p className="soft" role="status">
          Add what this folder is to hold.
        </p>
      ) : isSame ? (
        <p className="soft" role="status">
          {held ? 'This is what it holds now.' : 'It holds everything now.'}
        </p>
      ) : plan.error ? (
        <ErrorNotice error={plan.error} />
      ) : found ? (
        <Preview plan={found} />
      ) : (
        <AnswerState of={plan} label="Looking at what changes" title="Cannot tell what changes" isAnew />
      )}
    </FormDialog>
  );
}

function Patterns({
  patterns,
  onDrop,
}: {
  readonly patterns: readonly string[];
  readonly onDrop: (pattern: string) => void;
}) {
  const list = useRef<HTMLUListElement>(null);
  if (patterns.length === 0) return null;
  return (
    <ul className="scope-patterns" aria-label="Patterns" ref={list} tabIndex={-1}>
      {patterns.map((pattern) => (
        <li key={pattern} className="row">
          <span className="code cut grow" title={pattern}>
            {pattern}
          </span>
          <IconButton
            icon="close"
            size="small"
            label={`Drop ${pattern}`}
            onPress={() => {
              // The button goes.
              list.current?.focus();
              onDrop(pattern);
            }}
          />
        </li>
      ))}
    </ul>
  );
}

function Preview({ plan }: { readonly plan: ScopePlan }) {
  const { downloadedBytes, fetched, freedBytes, inTheWay, removed, unmatched, unpushed } = plan;
  return (
    <div className="stack" role="status">
      <Figures>
        <Figure label="To fetch" value={formatPlural(fetched, 'file')} note={formatBytes(downloadedBytes)} />
        <Figure label="To remove" value={formatPlural(removed, 'file')} note={formatBytes(freedBytes)} />
      </Figures>
      {unmatched.length > 0 && (
        <Notice tone="warning">
          {named(unmatched)} {unmatched.length === 1 ? 'names' : 'name'} nothing in the last commit.
        </Notice>
      )}
      {inTheWay.count > 0 && (
        <Notice tone="danger">
          Something else is here in place of {formatPlural(inTheWay.count, 'file')} to fetch:{' '}
          {named(inTheWay.paths, inTheWay.count)}. Move it away first.
        </Notice>
      )}
      {unpushed.count > 0 && (
        <Notice tone="danger">
          {formatPlural(unpushed.count, 'file')} that would leave {unpushed.count === 1 ? 'is' : 'are'} not
          pushed: {named(unpushed.paths, unpushed.count)}. Push first, or move{' '}
          {unpushed.count === 1 ? 'it' : 'them'} away.
        </Notice>
      )}
    </div>
  );
}

function named(all: readonly string[], count = all.length): string {
  const shown = all.slice(0, NAMED_MAX);
  const more = count - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''}`;
}

function actionOf(plan: ScopePlan | undefined): string {
  if (plan && plan.fetched > 0 && plan.removed > 0) return 'Fetch and remove';
  if (plan && plan.fetched > 0) return `Fetch ${formatPlural(plan.fetched, 'file')}`;
  return plan && plan.removed > 0 ? `Remove ${formatPlural(plan.removed, 'file')}` : 'Change';
}

function isEqual(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((pattern) => other.includes(pattern));
}
