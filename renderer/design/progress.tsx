import './progress.css';
import { ProgressBar as AriaProgressBar } from 'react-aria-components/ProgressBar';

export interface ProgressProps {
  readonly label: string;
  /** 0 to 1; undefined while nothing can be said. */
  readonly fraction: number | undefined;
  readonly tone?: 'accent' | 'paused' | 'failed' | 'done';
}

export function Progress({ label, fraction, tone = 'accent' }: ProgressProps) {
  const isKnown = fraction !== undefined;
  return (
    <AriaProgressBar
      aria-label={label}
      className="progress"
      isIndeterminate={!isKnown}
      value={isKnown ? fraction * 100 : 0}
    >
      <span
        className={`progress-fill progress-${tone} ${isKnown ? '' : 'progress-unknown'}`}
        style={isKnown ? { transform: `scaleX(${Math.min(1, Math.max(0, fraction))})` } : undefined}
      />
    </AriaProgressBar>
  );
}
