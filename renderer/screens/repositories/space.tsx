/**
 * The size on the store against the size of what is kept, and what a collection would free. A dry run finds
 * it, on request, because it reads all commits and lists the store.
 */
import { useRef, useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { RepositoryCard, RepositoryGarbage } from '../../../engine/api/host/repositories.ts';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Ago } from '../../design/ago.tsx';
import { Figure, Figures } from '../../design/card.tsx';
import { Button, LinkButton } from '../../design/controls/button.tsx';
import { Progress } from '../../design/progress.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useHost, useTransfers } from '../../host/use-host.tsx';
import { hrefOf } from '../../route.ts';
import { MendButton } from '../mend/mend-button.tsx';
import { StateBadge } from '../transfers/state-badge.tsx';
import { describeFiles, isOver } from '../transfers/transfer-words.ts';
import { CollectDialog } from './collect-dialog.tsx';
import { RetentionDialog } from './retention-dialog.tsx';
import { savedWords } from './saved-words.ts';

export interface SpaceProps {
  readonly repository: RepositoryCard;
  readonly name: string;
  /** The workspace whose remote it is. */
  readonly root: string;
  /** Takes the card with what was found. */
  readonly onCard: (repository: RepositoryCard) => void;
  readonly onForgot: () => void;
}

export function Space({ repository, name, root, onCard, onForgot }: SpaceProps) {
  const { garbage, id } = repository;
  const check = useCheck(id, onCard);
  const [open, setOpen] = useState<'collect' | 'retention'>();
  const collection = useTransfers()?.find(
    (transfer) => transfer.order.kind === 'gc' && transfer.order.root === root && !isOver(transfer),
  );
  const close = () => setOpen(undefined);
  return (
    <section className="space" aria-label={`Space of ${name}`}>
      {garbage ? (
        <Found garbage={garbage} name={name} />
      ) : (
        <p className="small faint">
          Nobody has checked here yet how much of it is kept. A check reads all commits and lists the store.
        </p>
      )}
      {check.error && (
        <ErrorNotice
          error={check.error}
          lead={`The space of ${name} was not checked.`}
          actions={<MendButton error={check.error} name={name} root={root} onUpgraded={check.start} />}
        />
      )}
      {collection && <Collecting transfer={collection} />}
      <div className="row space-actions">
        {check.listed === undefined ? (
          <Button size="small" icon="search" onPress={check.start}>
            {garbage ? 'Check again' : 'Check the space'}
            <span className="unseen"> of {name}</span>
          </Button>
        ) : (
          <>
            <Button size="small" onPress={check.stop}>
              <span className="unseen">{`Checking ${name}: `}</span>Stop
            </Button>
            <span className="small faint" role="status">
              {check.listed === 0 ? 'Reading the commits' : `${formatPlural(check.listed, 'object')} so far`}
            </span>
          </>
        )}
        <Button
          size="small"
          icon="trash"
          isDisabled={collection !== undefined}
          onPress={() => setOpen('collect')}
        >
          Collect garbage...<span className="unseen"> of {name}</span>
        </Button>
        <Button size="small" icon="history" onPress={() => setOpen('retention')}>
          Retention...<span className="unseen"> of {name}</span>
        </Button>
      </div>
      {open === 'collect' && <CollectDialog name={name} root={root} garbage={garbage} onClose={close} />}
      {open === 'retention' && (
        <RetentionDialog
          name={name}
          root={root}
          onClose={close}
          onForgot={() => {
            close();
            onForgot();
          }}
        />
      )}
    </section>
  );
}

interface Check {
  /** The objects that were listed. Undefined while none runs. */
  readonly listed: number | undefined;
  readonly error: DrayError | undefined;
  readonly start: () => void;
  readonly stop: () => void;
}

function useCheck(id: string, onCard: SpaceProps['onCard']): Check {
  const host = useHost();
  const [listed, setListed] = useState<number>();
  const [error, setError] = useState<DrayError>();
  const stopping = useRef<AbortController>(undefined);
  const run = async () => {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    setListed(0);
    setError(undefined);
    try {
      const found = await host.ask(
        'repositories.garbage',
        { id },
        {
          signal,
          onEvents: (events) => {
            const newest = events.findLast((event) => event.type === 'progress');
            if (newest?.type === 'progress') setListed(newest.filesDone);
          },
        },
      );
      onCard(found);
    } catch (failed) {
      if (!signal.aborted && failed instanceof DrayError) setError(failed);
    } finally {
      setListed(undefined);
    }
  };
  return { listed, error, start: () => void run(), stop: () => stopping.current?.abort() };
}

function Found({ garbage, name }: { readonly garbage: RepositoryGarbage; readonly name: string }) {
  const { at, bytes, commits, forgottenCommits, garbageBytes, garbageObjects } = garbage;
  const { isCollected, repackedPacks, youngBytes, youngObjects } = garbage;
  const kept = bytes - garbageBytes - youngBytes;
  const forgotten = forgottenCommits === 0 ? '' : `, ${formatPlural(forgottenCommits, 'commit')} forgotten`;
  return (
    <>
      <SpaceBar garbage={garbage} kept={kept} name={name} />
      <Figures>
        <Figure
          label={<Marked as="kept">Kept</Marked>}
          value={formatBytes(kept)}
          note={`of ${formatBytes(bytes)} on the store, in ${formatPlural(commits, 'commit')}${forgotten}`}
        />
        {youngObjects > 0 && (
          <Figure
            label={<Marked as="young">Younger than a day</Marked>}
            value={formatBytes(youngBytes)}
            note={`${formatPlural(youngObjects, 'object')} that no commit needs`}
          />
        )}
        <Figure
          label={<Marked as="garbage">A collection frees</Marked>}
          value={formatBytes(garbageBytes)}
          note={
            garbageObjects === 0
              ? 'nothing to remove'
              : `${formatPlural(garbageObjects, 'object')}${savedWords(garbage)}`
          }
        />
        <Figure
          label={isCollected ? 'Collected' : 'Checked'}
          value={<Ago moment={at} />}
          note={isCollected ? 'this is what it left' : 'by reading all commits'}
        />
      </Figures>
      {repackedPacks > 0 && <p className="small faint">{repackedWords(garbage)}</p>}
    </>
  );
}

/** As the terminal says it. */
function repackedWords({ isCollected, repackedBytes, repackedPacks }: RepositoryGarbage): string {
  const packs = formatPlural(repackedPacks, 'pack');
  const did = isCollected
    ? `It wrote ${packs} anew, which freed`
    : `A collection would write ${packs} anew, which frees`;
  return `${did} ${formatBytes(repackedBytes)} of it.`;
}

/** With its colour in the bar. */
function Marked({ as, children }: { readonly as: 'kept' | 'young' | 'garbage'; readonly children: string }) {
  return (
    <>
      <span className={`space-mark space-${as}`} aria-hidden="true" />
      {children}
    </>
  );
}

function SpaceBar({
  garbage: { bytes, garbageBytes, youngBytes },
  kept,
  name,
}: {
  readonly garbage: RepositoryGarbage;
  readonly kept: number;
  readonly name: string;
}) {
  const part = (size: number) => ({ flexGrow: bytes === 0 ? 0 : size / bytes });
  const words = `Of ${formatBytes(bytes)} of ${name}, ${formatBytes(kept)} are kept, and ${formatBytes(garbageBytes + youngBytes)} are garbage.`;
  return (
    <div className="space-bar" role="img" aria-label={words}>
      <span className="space-kept" style={part(kept)} />
      <span className="space-young" style={part(youngBytes)} />
      <span className="space-garbage" style={part(garbageBytes)} />
    </div>
  );
}

/** A collection in the queue; Transfers pauses and stops it. */
function Collecting({ transfer }: { readonly transfer: Transfer }) {
  return (
    <div className="space-collecting">
      <div className="row">
        <strong>Collecting garbage</strong>
        <StateBadge transfer={transfer} />
        <span className="small faint grow">{describeFiles(transfer)}</span>
        <LinkButton size="small" icon="transfers" href={hrefOf('transfers')}>
          See Transfers
        </LinkButton>
      </div>
      {transfer.state !== 'waiting' && (
        <Progress
          label={`Progress of ${transfer.title}`}
          fraction={transfer.state === 'paused' ? 0 : undefined}
          tone={transfer.state === 'paused' ? 'paused' : 'accent'}
        />
      )}
    </div>
  );
}
