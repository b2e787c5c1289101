/** Why a running transfer stands still, and the log of its last requests. */
import { useEffect } from 'react';
import type {
  StalledCall,
  Transfer,
  TransferCall,
  TransferStall,
} from '../../../engine/api/host/transfers.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { formatClockSeconds, formatSeconds } from '../../design/format.ts';
import { Notice } from '../../design/states.tsx';
import { useAsk, useRefresh } from '../../host/use-host.tsx';
import { copyText } from '../../shell/copy-text.ts';

const LOG_EVERY_MS = 2_000;

/** The transfer's list comes every second, so the seconds count on. */
export function StallNotice({ stall, onLog }: { readonly stall: TransferStall; readonly onLog: () => void }) {
  const { call, sinceMs } = stall;
  return (
    <Notice
      tone="warning"
      actions={
        <Button size="small" onPress={onLog}>
          Show the requests
        </Button>
      }
    >
      No byte has moved for {silence(sinceMs)}, since {formatClockSeconds(sinceMs)}.{' '}
      {call ? <CallWords call={call} /> : 'No request is open: the work is on this computer.'}
    </Notice>
  );
}

function CallWords({ call }: { readonly call: StalledCall }) {
  const { failure, isOpen, key, method, retries, startedMs } = call;
  return (
    <>
      <span className="code">
        {method} {key}
      </span>{' '}
      {isOpen
        ? `has waited for its answer since ${formatClockSeconds(startedMs)}`
        : `failed (${failure}) and is about to be repeated`}
      {retries > 0 ? `, after ${formatPlural(retries, 'failed attempt')}.` : '.'}
    </>
  );
}

function silence(sinceMs: number): string {
  const seconds = Math.max(10, Math.floor((Date.now() - sinceMs) / 1000));
  return seconds < 120 ? `${seconds} s` : formatSeconds(seconds);
}

export function CallLog({ transfer: { id, state } }: { readonly transfer: Transfer }) {
  const isRunning = state === 'running';
  const { data } = useAsk('transfers.calls', { id }, isRunning ? { everyMs: LOG_EVERY_MS } : {});
  const refresh = useRefresh();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the last requests are complete when the state changes
  useEffect(() => void refresh('transfers.calls'), [state, refresh]);
  const calls = data?.calls ?? [];
  if (calls.length === 0) return null;
  const lines = calls.map(describeCall);
  return (
    <section aria-label="Last requests">
      <div className="row">
        <h3 className="grow">Last requests ({calls.length})</h3>
        <Button size="small" look="quiet" onPress={() => void copyText(lines.join('\n'), 'The log')}>
          Copy the log
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <ul className="transfer-remarks" tabIndex={0} aria-label="Last requests">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two requests may be equal.
          <li key={index}>
            <span className="code">{line}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function describeCall({ endedMs, failure, key, method, retries, startedMs }: TransferCall): string {
  const end =
    endedMs === undefined
      ? 'no answer yet'
      : `${failure ?? 'done'} after ${formatSeconds((endedMs - startedMs) / 1000)}`;
  const again = retries === 0 ? '' : ` (attempt ${retries + 1})`;
  return `${formatClockSeconds(startedMs)} ${method} ${key}: ${end}${again}`;
}
