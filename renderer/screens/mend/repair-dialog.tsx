/** The question before a repair. A dry run finds what is missing or damaged, and writes nothing. */
import '../transfers/transfers.css';
import { useEffect, useState } from 'react';
import type { HostEvent } from '../../../engine/api/host.ts';
import type { RepairSummary } from '../../../engine/api/jobs/repair.ts';
import { formatAffected, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Loading } from '../../design/states.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useHost } from '../../host/use-host.tsx';
import { useStartTransfers } from '../start-transfer.ts';

/** The rest is a number: a person reads no more. */
const FINDINGS_MAX = 200;

export interface RepairDialogProps {
  readonly name: string;
  readonly root: string;
  readonly onClose: () => void;
}

export function RepairDialog({ name, root, onClose }: RepairDialogProps) {
  const { error, findings, found } = useDryRun(root);
  const start = useStartTransfers();
  const canRepair = found?.result === 'wouldRepair';
  return (
    <Dialog
      title={`Repair ${name}`}
      isOpen
      isForm
      size="large"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{canRepair || !found ? 'Cancel' : 'Close'}</Button>
          <Button
            look="primary"
            isDisabled={!canRepair}
            onPress={() => {
              onClose();
              void start(`${name} is being repaired`, [{ kind: 'repair', root }]);
            }}
          >
            Repair
          </Button>
        </>
      }
    >
      <div className="stack">
        {error && <ErrorNotice error={error} lead="Nothing was found out, and nothing was written." />}
        {!found && !error && <Loading label="Looking for what is missing or damaged. Nothing is written" />}
        {found && <p role="status">{foundWords(found)}</p>}
        {findings.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
          <ul className="transfer-remarks repair-findings" tabIndex={0} aria-label="Missing or damaged">
            {findings.map(({ detail, paths }) => (
              <li key={detail}>
                {paths && <span>{paths}</span>}
                <span className="code small faint">{detail}</span>
              </li>
            ))}
          </ul>
        )}
        {canRepair && <Writes />}
        {found !== undefined && found.unnamed > 0 && (
          <p className="small faint">
            {formatPlural(found.unnamed, 'commit')} without a branch or a tag: a lost branch is made again at
            a command line.
          </p>
        )}
      </div>
    </Dialog>
  );
}

function Writes() {
  return (
    <p>
      A repair stores again what this workspace still has. A damaged object is never overwritten: its content
      gets a new place, and one commit on top of the branch names it. It is a transfer, and can be stopped and
      go on.
    </p>
  );
}

function foundWords({ affectedPaths, found }: RepairSummary): string {
  if (found === 0) return 'Nothing to repair.';
  return `${formatCount(found)} missing or damaged: ${formatAffected(affectedPaths)}. Nothing was written yet.`;
}

interface Finding {
  readonly paths: string;
  readonly detail: string;
}

interface DryRun {
  readonly found?: RepairSummary;
  readonly error?: Failed;
  readonly findings: readonly Finding[];
}

/** Ends when the dialog closes. */
function useDryRun(root: string): DryRun {
  const host = useHost();
  const [run, setRun] = useState<DryRun>({ findings: [] });
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const findings: Finding[] = [];
    const onEvents = (events: readonly HostEvent[]) => {
      for (const event of events)
        if (event.type === 'check' && event.result === 'failed' && findings.length < FINDINGS_MAX)
          findings.push({ paths: event.paths?.join(', ') ?? '', detail: event.detail });
    };
    host.ask('repositories.planRepair', { root }, { signal, onEvents }).then(
      (found) => setRun({ found, findings }),
      (error: unknown) => signal.aborted || setRun({ error: toFailed(error), findings }),
    );
    return () => stopping.abort();
  }, [host, root]);
  return run;
}
