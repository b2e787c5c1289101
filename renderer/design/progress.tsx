import './progress.css';
import { ProgressBar as AriaProgressBar } from 'react-aria-components/ProgressBar';

export interface ProgressProps {
  readonly label: string;
  /** 0 to 1; undefined while unknown. */
  readonly fraction: number | undefined;
  /** The share that is on its way, drawn paler behind it. */
  readonly underWay?: number;
  readonly tone?: 'accent' | 'paused' | 'failed' | 'done';
}

export function Progress({ label, fraction, underWay = 0, tone = 'accent' }: ProgressProps) {
  const isKnown = fraction !== undefined;
  return (
    <AriaProgressBar
      aria-label={label}
      className="progress"
      isIndeterminate={!isKnown}
      value={isKnown ? fraction * 100 : 0}
    >
      {isKnown && underWay > 0 && (
        <span className="progress-fill progress-under-way" style={scaledTo(fraction + underWay)} />
      )}
      <span
        className={`progress-fill progress-${tone} ${isKnown ? '' : 'progress-unknown'}`}
        style={isKnown ? scaledTo(fraction) : undefined}
      />
    </AriaProgressBar>
  );
}

function scaledTo(fraction: number) {
  return { transform: `scaleX(${Math.min(1, Math.max(0, fraction))})` };
}
