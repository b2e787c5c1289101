import './screen.css';
import { type ReactNode, useEffect } from 'react';

export interface ScreenProps {
  readonly title: string;
  /** Beside the title: the workspace, a count. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** Fills the height and scrolls within, instead of as a page. */
  readonly isFull?: boolean;
  readonly children: ReactNode;
}

/** The frame of every screen: its one `h1`, what can be done, and what it shows. */
export function Screen({ title, note, actions, isFull = false, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} - Dray`;
  }, [title]);
  return (
    <div className="screen">
      <header className="screen-head">
        <h1>{title}</h1>
        <div className="screen-note cut grow">{note}</div>
        {actions}
      </header>
      {isFull ? (
        <div className="screen-full">{children}</div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
        <section className="screen-page" aria-label={title} tabIndex={0}>
          {children}
        </section>
      )}
    </div>
  );
}
