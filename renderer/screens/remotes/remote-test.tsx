/** A test of a remote, drawn as a checklist while it runs. */
import { useEffect, useRef, useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { CheckEvent } from '../../../engine/api/events.ts';
import type { AccessKeys } from '../../../engine/api/host.ts';
import { Button } from '../../design/button.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { Notice } from '../../design/states.tsx';
import { useHost } from '../../host/use-host.tsx';

type Outcome = 'running' | 'passed' | 'failed';

/** Runs at once, and again for another target. `keys`: as they were typed, not kept yet. */
export function RemoteTest({
  target,
  keys,
}: {
  readonly target: string;
  readonly keys?: AccessKeys | undefined;
}) {
  const host = useHost();
  const [round, setRound] = useState(0);
  const [checks, setChecks] = useState<readonly CheckEvent[]>([]);
  const [outcome, setOutcome] = useState<Outcome>('running');
  const [fault, setFault] = useState<string>();

  const verdict = useRef<HTMLDivElement>(null);
  // What the test came to is seen, however long the form above it is.
  useEffect(() => {
    if (outcome !== 'running') verdict.current?.scrollIntoView({ block: 'nearest' });
  }, [outcome]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` is what "Test again" counts up.
  useEffect(() => {
    const stop = new AbortController();
    setChecks([]);
    setFault(undefined);
    setOutcome('running');
    const onEvents = (events: readonly { readonly type: string }[]): void => {
      const told = events.filter((event): event is CheckEvent => event.type === 'check');
      setChecks((before) => [...before, ...told]);
    };
    const input = keys ? { target, keys } : { target };
    host.ask('remotes.test', input, { signal: stop.signal, onEvents }).then(
      ({ failed }) => setOutcome(failed > 0 ? 'failed' : 'passed'),
      (error: unknown) => {
        if (stop.signal.aborted || (error instanceof DrayError && error.code === 'aborted')) return;
        setFault(error instanceof Error ? error.message : String(error));
        setOutcome('failed');
      },
    );
    return () => stop.abort();
  }, [host, target, keys, round]);

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
            <span className="soft">{check.detail}</span>
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
        {outcome === 'passed' && <Notice tone="success">This remote does all that Dray needs.</Notice>}
        {outcome === 'failed' && (
          <Notice tone="danger">
            {fault ?? 'Something that Dray needs does not work there: see above.'}
          </Notice>
        )}
      </div>
      {outcome !== 'running' && (
        <div>
          <Button size="small" icon="refresh" onPress={() => setRound(round + 1)}>
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
  notSupported: 'not there, and done without',
};
