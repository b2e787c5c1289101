/** Tests a remote and shows the checks as they run. */
import { useEffect, useRef, useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { CheckEvent } from '../../../engine/api/events.ts';
import type { AccessKeys } from '../../../engine/api/host/remotes.ts';
import { Button } from '../../design/controls/button.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { Notice } from '../../design/states.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { peerNeedOf } from '../../failures/peer-need.ts';
import { useHost } from '../../host/use-host.tsx';

type Outcome = 'running' | 'passed' | 'failed';

export interface TryRemoteProps {
  readonly target: string;
  /** Typed keys that are not saved yet. */
  readonly keys?: AccessKeys | undefined;
  readonly token?: string | undefined;
}

/** Runs at once, and again for another target. */
export function TryRemote({ target, keys, token }: TryRemoteProps) {
  const host = useHost();
  const [round, setRound] = useState(0);
  const [checks, setChecks] = useState<readonly CheckEvent[]>([]);
  const [outcome, setOutcome] = useState<Outcome>('running');
  const [fault, setFault] = useState<Failed>();

  const verdict = useRef<HTMLDivElement>(null);
  // Scrolls the result into view, however long the form above it is.
  useEffect(() => {
    if (outcome !== 'running') verdict.current?.scrollIntoView({ block: 'nearest' });
  }, [outcome]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: "Test again" counts up `round`.
  useEffect(() => {
    const stop = new AbortController();
    setChecks([]);
    setFault(undefined);
    setOutcome('running');
    const onEvents = (events: readonly { readonly type: string }[]): void => {
      const found = events.filter((event): event is CheckEvent => event.type === 'check');
      setChecks((before) => [...before, ...found]);
    };
    const input = { target, ...(keys ? { keys } : {}), ...(token === undefined ? {} : { token }) };
    host.ask('remotes.test', input, { signal: stop.signal, onEvents }).then(
      ({ failed }) => setOutcome(failed > 0 ? 'failed' : 'passed'),
      (error: unknown) => {
        if (stop.signal.aborted || (error instanceof DrayError && error.code === 'aborted')) return;
        setFault(toFailed(error));
        setOutcome('failed');
      },
    );
    return () => stop.abort();
  }, [host, target, keys, token, round]);

  const again = (): void => setRound(round + 1);
  /** Problems that the user can fix here. */
  const mendable = checks.find(({ error }) => error && peerNeedOf(error))?.error;
  const cause = fault ?? mendable;
  return (
    <div className="stack">
      <ul className="checks" aria-label="Checks" aria-busy={outcome === 'running'}>
        {checks.map((check) => (
          <li key={check.check} className={`check is-${check.result}`}>
            <Icon name={ICONS[check.result]} />
            <span className="check-name">
              {check.check}
              <span className="unseen">, {WORDS[check.result]}</span>
            </span>
            <span className="soft">
              {check.error && peerNeedOf(check.error) ? 'See below.' : check.detail}
            </span>
          </li>
        ))}
        {outcome === 'running' && (
          <li className="check">
            <span className="spinner" aria-hidden="true" />
            <span className="soft">Testing</span>
          </li>
        )}
      </ul>
      <div role="status" ref={verdict}>
        {outcome === 'passed' && (
          <Notice tone="success">This remote supports everything that Dray needs.</Notice>
        )}
        {outcome === 'failed' && cause && <ErrorNotice error={cause} onMended={again} />}
        {outcome === 'failed' && !cause && (
          <Notice tone="danger">Something that Dray needs does not work there. See above.</Notice>
        )}
      </div>
      {/* It stays during another round, because it has the focus then. */}
      {(outcome !== 'running' || round > 0) && (
        <div>
          <Button size="small" icon="refresh" isPending={outcome === 'running'} onPress={again}>
            Test again
          </Button>
        </div>
      )}
    </div>
  );
}

const ICONS: Readonly<Record<CheckEvent['result'], IconName>> = {
  ok: 'check',
  failed: 'close',
  warning: 'warning',
  notSupported: 'minus',
};

const WORDS: Readonly<Record<CheckEvent['result'], string>> = {
  ok: 'works',
  failed: 'fails',
  warning: 'works, with a warning',
  notSupported: 'not supported, and not required',
};
