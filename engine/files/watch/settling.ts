export interface SettlingOptions {
  /** The time without an event before the call. */
  readonly quietMs: number;
  /** The longest time from the first event to the call while events continue. */
  readonly patienceMs: number;
}

export interface Settling {
  readonly note: () => void;
  readonly stop: () => void;
}

/** A debounce with a maximum wait: one call of `onSettled` for each burst of events. */
export function createSettling({ patienceMs, quietMs }: SettlingOptions, onSettled: () => void): Settling {
  let quiet: NodeJS.Timeout | undefined;
  let patience: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(quiet);
    clearTimeout(patience);
    quiet = undefined;
    patience = undefined;
  };
  const settle = () => {
    stop();
    onSettled();
  };
  return {
    note() {
      clearTimeout(quiet);
      quiet = setTimeout(settle, quietMs);
      patience ??= setTimeout(settle, Math.max(patienceMs, quietMs));
    },
    stop,
  };
}
