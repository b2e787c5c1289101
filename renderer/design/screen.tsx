import './screen.css';
import { type ReactNode, useEffect } from 'react';

export interface ScreenProps {
  readonly title: string;
  /** Beside the title: the workspace, a count. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** Fills the height and scrolls inside, instead of as a page. */
  readonly isFull?: boolean;
  readonly children: ReactNode;
}

/** The frame of every screen: its one `h1`, its actions, and its content. */
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
        <section className="screen-page" aria-label={title} tabIndex={0}>
          {children}
        </section>
      )}
    </div>
  );
}
