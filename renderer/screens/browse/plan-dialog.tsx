/**
 * Shows what a copy or a sync would do before it runs. Deletions come first, and the user must confirm them.
 */

import { useState } from 'react';
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import type { TransferOrder } from '../../../engine/api/host/transfers.ts';
import type { AnswerOf, InputOf } from '../../../engine/api/host.ts';
import { formatBytes, formatCount, formatDollars, formatPlural } from '../../../engine/api/text/numbers.ts';
import { ChangeMark } from '../../design/badge.tsx';
import { Figure, Figures } from '../../design/card.tsx';
import { Button, LinkButton } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { Checkbox, Field } from '../../design/controls/field.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { EmptyState, Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { hrefOf } from '../../route.ts';
import { describeLocation, type Location, nameOf, placeOf, repositoryName } from './places.ts';

const ROWS_MAX = 200;
const NAMED_MAX = 3;

type Kind = InputOf<'browse.plan'>['kind'];
type Plan = AnswerOf<'browse.plan'>;

export interface PlanDialogProps {
  /** The source and the destination, until they are swapped. */
  readonly ends: readonly [Location, Location];
  readonly onClose: () => void;
  readonly onStart: (order: TransferOrder, to: Location) => void;
}

export function PlanDialog({ ends, onClose, onStart }: PlanDialogProps) {
  const [isSwapped, setSwapped] = useState(false);
  const [from, to] = isSwapped ? [ends[1], ends[0]] : ends;
  const [kind, setKind] = useState<Kind>('copy');
  /** The number of confirmed deletions. A plan that finds another number asks again. */
  const [agreedTo, setAgreedTo] = useState<number>();
  const plan = useAsk('browse.plan', {
    kind,
    source: placeOf(from),
    destination: placeOf(to),
    limit: ROWS_MAX,
  });
  // An earlier plan is void: both sides may have changed.
  const found = plan.isFetching ? undefined : plan.data;
  const deletes = found?.summary.deletedFiles ?? 0;
  const isAgreed = agreedTo === deletes;
  return (
    <Dialog
      title="Make one side match the other"
      isOpen
      onClose={onClose}
      size="large"
      actions={
        <>
          <LinkButton
            icon="jobs"
            href={hrefOf('jobs', { add: 'yes', kind, source: placeOf(from), destination: placeOf(to) })}
          >
            Save as a job
          </LinkButton>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look={deletes > 0 ? 'danger' : 'primary'}
            isDisabled={!found || hasNothingToDo(found) || (deletes > 0 && !isAgreed)}
            onPress={() => onStart(orderOf(kind, [from, to], deletes, doomedIn(found, to)), to)}
          >
            {startLabel(kind, deletes)}
          </Button>
        </>
      }
    >
      <div className="stack">
        <PlanEnds
          ends={[from, to]}
          onSwap={() => {
            setSwapped(!isSwapped);
            setAgreedTo(undefined);
          }}
        />
        <KindChoice
          kind={kind}
          onKind={(next) => {
            setKind(next);
            setAgreedTo(undefined);
          }}
        />
        <AnswerState
          of={plan}
          label="Comparing both sides without changing anything"
          title="Cannot compare both sides"
          isAnew
        />
        <div role="status">{found && <LeftOut plan={found} kind={kind} />}</div>
        {found && hasNothingToDo(found) && <NothingToDo summary={found.summary} />}
        {found && !hasNothingToDo(found) && (
          <>
            <PlanFigures summary={found.summary} />
            {deletes > 0 && (
              <DeletionConsent
                plan={found}
                to={to}
                isAgreed={isAgreed}
                onAgree={(is) => setAgreedTo(is ? deletes : undefined)}
              />
            )}
            <PlanRows rows={found.rows} isCut={found.isCut} />
          </>
        )}
      </div>
    </Dialog>
  );
}

function hasNothingToDo({ summary }: Plan): boolean {
  return summary.result === 'upToDate';
}

function startLabel(kind: Kind, deletes: number): string {
  if (kind === 'copy') return 'Start copying';
  return deletes > 0 ? `Sync and delete ${formatPlural(deletes, 'file')}` : 'Start syncing';
}

/** A sync may delete as many files as the user confirmed, and none that came later. */
function orderOf(
  kind: Kind,
  [from, to]: readonly [Location, Location],
  deletes: number,
  doomed: string | undefined,
): TransferOrder {
  const ends = { source: placeOf(from), destination: placeOf(to) };
  return kind === 'copy'
    ? { kind, ...ends }
    : { kind, ...ends, maxDelete: deletes, ...(doomed === undefined ? {} : { confirmed: [doomed] }) };
}

function PlanEnds({
  ends: [from, to],
  onSwap,
}: Pick<PlanDialogProps, 'ends'> & { readonly onSwap: () => void }) {
  return (
    <div className="plan-ends">
      <span className="cut">{describeLocation(from)}</span>
      <span className="faint">to</span>
      <span className="cut grow">{describeLocation(to)}</span>
      <Button size="small" icon="refresh" onPress={onSwap}>
        Swap direction
      </Button>
    </div>
  );
}

function KindChoice({ kind, onKind }: { readonly kind: Kind; readonly onKind: (kind: Kind) => void }) {
  return (
    <div className="row">
      <Segmented
        label="What to do"
        value={kind}
        onChange={onKind}
        choices={[
          { id: 'copy', label: 'Copy' },
          { id: 'sync', label: 'Sync' },
        ]}
      />
      <span className="soft">
        {kind === 'copy'
          ? 'Copies new and changed files. Deletes nothing.'
          : 'Makes the destination identical: files that only it has are deleted.'}
      </span>
    </div>
  );
}

function NothingToDo({ summary }: Pick<Plan, 'summary'>) {
  if (summary.failed > 0 || summary.skippedFiles > 0)
    return (
      <EmptyState title="Nothing else to do">
        {formatPlural(summary.unchangedFiles, 'file is', 'files are')} already there.
      </EmptyState>
    );
  return (
    <EmptyState icon="check" title="Nothing to do">
      All {formatPlural(summary.files, 'file')} are already there.
    </EmptyState>
  );
}

function PlanFigures({ summary }: Pick<Plan, 'summary'>) {
  const { deletedFiles, forecast } = summary;
  return (
    <Figures>
      <Figure
        label="To copy"
        value={formatBytes(summary.copiedBytes)}
        note={formatPlural(summary.copiedFiles, 'file')}
      />
      <Figure
        label="To delete"
        value={formatCount(deletedFiles)}
        note={deletedFiles > 0 ? 'at the destination' : 'nothing'}
      />
      <Figure
        label="Unchanged"
        value={formatCount(summary.unchangedFiles)}
        note={`of ${formatPlural(summary.files, 'file')}`}
      />
      {forecast && (
        <Figure label="Requests" value={formatCount(forecast.total)} note={formatDollars(forecast.dollars)} />
      )}
    </Figures>
  );
}

interface DeletionConsentProps {
  readonly plan: Plan;
  readonly to: Location;
  readonly isAgreed: boolean;
  readonly onAgree: (isAgreed: boolean) => void;
}

function DeletionConsent({ plan, to, isAgreed, onAgree }: DeletionConsentProps) {
  const { deletesRepository, summary } = plan;
  const doomed = doomedIn(plan, to);
  const [typed, setTyped] = useState('');
  return (
    <Notice tone="danger">
      {deletesRepository !== undefined && (
        <p>
          {deletesRepository === '' ? 'The destination' : deletesRepository.slice(0, -1)} is a Dray
          repository. The sync would delete it with all its versions.
        </p>
      )}
      {doomed === undefined ? (
        <Checkbox isSelected={isAgreed} onChange={onAgree}>
          Delete {formatPlural(summary.deletedFiles, 'file')} in {describeLocation(to)}
        </Checkbox>
      ) : (
        <Field
          label={`Type ${doomed} to delete ${formatPlural(summary.deletedFiles, 'file')} in ${describeLocation(to)}`}
          value={typed}
          onChange={(next) => {
            setTyped(next);
            onAgree(next === doomed);
          }}
        />
      )}
    </Notice>
  );
}

/** The name of the repository that the sync would delete. */
function doomedIn(plan: Plan | undefined, to: Location): string | undefined {
  if (plan?.deletesRepository === undefined) return undefined;
  return nameOf(plan.deletesRepository === '' ? repositoryName(to) : plan.deletesRepository);
}

/** Files that no run would copy at present. */
function LeftOut({ plan, kind }: { readonly plan: Plan; readonly kind: Kind }) {
  const { failures, skipped, summary } = plan;
  const { failed, skippedFiles } = summary;
  if (failed === 0 && skippedFiles === 0) return null;
  return (
    <Notice tone="warning">
      {failed > 0 && (
        <>
          <p>
            <strong>
              {formatPlural(failed, 'file or folder', 'files or folders')} cannot be read or written.
            </strong>{' '}
            {kind === 'sync' && 'Until that is fixed, a sync deletes nothing.'}
          </p>
          {failures.length > 0 && (
            <ul>
              {failures.slice(0, NAMED_MAX).map(({ message, path }) => (
                <li key={`${path} ${message}`}>{message}</li>
              ))}
              {failed > NAMED_MAX && <li>and {formatCount(failed - NAMED_MAX)} more</li>}
            </ul>
          )}
        </>
      )}
      {skippedFiles > 0 && (
        <p>
          {formatPlural(skippedFiles, 'link or special file is', 'links or special files are')} skipped:{' '}
          {skipped.slice(0, NAMED_MAX).join(', ')}
          {skippedFiles > NAMED_MAX && ` and ${formatCount(skippedFiles - NAMED_MAX)} more`}.
        </p>
      )}
    </Notice>
  );
}

function PlanRows({ rows, isCut }: { readonly rows: readonly ChangeRow[]; readonly isCut: boolean }) {
  const deletesFirst = rows.toSorted(
    (a, b) => Number(b.change === 'deleted') - Number(a.change === 'deleted'),
  );
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by keyboard */}
      <section className="plan-rows" tabIndex={0} aria-label="Files">
        <ul>
          {deletesFirst.map((row) => (
            <li key={`${row.change} ${row.path}`} className="row">
              <ChangeMark change={row.change} />
              <span className="cut grow">{row.path}</span>
              <span className="small faint">{formatBytes(row.sizeBytes)}</span>
            </li>
          ))}
        </ul>
      </section>
      {isCut && (
        <p className="small faint">The first {formatCount(ROWS_MAX)}; the figures above count all.</p>
      )}
    </>
  );
}
