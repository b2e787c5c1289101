/** The newest lines of a job's log. It follows a run. */

import type { SavedJobLine } from '../../../engine/api/host/saved.ts';
import { Button } from '../../design/controls/button.tsx';
import { formatMoment } from '../../design/format.ts';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';

const LINES = 200;
const LOOK_EVERY_MS = 2_000;

export function JobLog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const log = useAsk('saved.log', { name, lines: LINES }, { onReturn: true, everyMs: LOOK_EVERY_MS });
  const lines = log.data?.lines;
  return (
    <Dialog
      title={`Log of ${name}`}
      size="large"
      isOpen
      onClose={onClose}
      actions={<Button onPress={onClose}>Close</Button>}
    >
      {!lines && <AnswerState of={log} label="Reading the log" title="Cannot read the log" />}
      {lines?.length === 0 && <p>The job has not run yet.</p>}
      {lines && lines.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
        <section className="job-log" aria-label="The newest lines" tabIndex={0}>
          <ol>
            {[...lines].reverse().map((line, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines may be equal, and all are drawn anew
              <LogLine key={at} line={line} />
            ))}
          </ol>
        </section>
      )}
    </Dialog>
  );
}

function LogLine({ line: { kind, text, time } }: { readonly line: SavedJobLine }) {
  return (
    <li className={`job-line is-${kind}`}>
      <time className="faint" dateTime={time}>
        {formatMoment(time)}
      </time>
      <span>{KINDS[kind] ?? kind}</span>
      <span className="job-line-text">{text}</span>
    </li>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  started: 'Started',
  warning: 'Warning',
  error: 'Error',
  ended: 'Ended',
  notice: 'Notice',
};
