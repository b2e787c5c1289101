import './card.css';
import type { ReactNode } from 'react';

export interface CardProps {
  readonly title?: ReactNode;
  /** Level of the title: 2 unless the card is inside another section. */
  readonly level?: 2 | 3;
  readonly actions?: ReactNode;
  /** No padding, for lists and tables that reach the border. */
  readonly isFlush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Card({ title, level = 2, actions, isFlush = false, className = '', children }: CardProps) {
  const Title = level === 2 ? 'h2' : 'h3';
  return (
    <section className={`card ${className}`}>
      {(title !== undefined || actions !== undefined) && (
        <header className="card-head">
          {title !== undefined && <Title className="grow">{title}</Title>}
          {actions}
        </header>
      )}
      <div className={isFlush ? 'card-flush' : 'card-body'}>{children}</div>
    </section>
  );
}

/** A key figure: its name, its value, and what it rests on. */
export function Figure({
  label,
  value,
  note,
}: {
  readonly label: ReactNode;
  readonly value: ReactNode;
  readonly note?: ReactNode;
}) {
  return (
    <div className="figure">
      <dt className="figure-label">{label}</dt>
      <dd className="figure-value">{value}</dd>
      {note !== undefined && <dd className="figure-note">{note}</dd>}
    </div>
  );
}

/** Figures side by side. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return <dl className="figures">{children}</dl>;
}
