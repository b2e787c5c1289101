/**
 * Shown instead of a screen's content: loading, empty; and notices. For errors see `failures/failure.tsx`.
 */
import './states.css';
import { type ReactNode, useEffect, useState } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface EmptyStateProps {
  readonly icon?: IconName;
  readonly title: string;
  /** One or two sentences: why it is empty, and how to fill it. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

export function EmptyState({ icon = 'info', title, children, actions }: EmptyStateProps) {
  return (
    <div className="state">
      <span className="state-icon">
        <Icon name={icon} size={24} />
      </span>
      <h2>{title}</h2>
      {children !== undefined && <p className="state-text">{children}</p>}
      {actions !== undefined && <div className="state-actions">{actions}</div>}
    </div>
  );
}

/** Announced to screen readers at once, drawn after a moment so that quick loads do not flash. */
export function Loading({ label = 'Loading' }: { readonly label?: string }) {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    const timer = setTimeout(setDrawn, 200, true);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="state" role="status">
      {isDrawn && <span className="spinner" aria-hidden="true" />}
      <p className={isDrawn ? 'state-text' : 'unseen'}>{label}</p>
    </div>
  );
}

export type NoticeTone = 'info' | 'warning' | 'danger' | 'success';

/** A sentence that matters more than the text around it. */
export function Notice({
  tone = 'info',
  children,
  actions,
}: {
  readonly tone?: NoticeTone;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}) {
  const icon: IconName = tone === 'info' ? 'info' : tone === 'success' ? 'check' : 'warning';
  return (
    <div className={`notice notice-${tone}`} role={tone === 'danger' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div className="grow">{children}</div>
      {actions}
    </div>
  );
}
