import { Component, type ReactNode } from 'react';
import { Screen } from '../design/screen.tsx';
import { ErrorState } from '../failures/failure.tsx';

/**
 * A crashed screen says so, and leaves the rest of the window as it is. React offers this only to classes.
 */
export class ScreenBoundary extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Screen title="This screen crashed" isFull>
        <ErrorState
          title="This screen met an unexpected error"
          error={error}
          onRetry={() => this.setState({ error: undefined as never })}
        />
      </Screen>
    );
  }
}
