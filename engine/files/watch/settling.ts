export interface SettlingOptions {
  /** How long nothing may happen before the call. */
  readonly quietMs: number;
  /** What never rests is reported at least this often. */
  readonly patienceMs: number;
}

export interface Settling {
  readonly note: () => void;
  readonly stop: () => void;
}

/** Calls once after events that follow each other, when none has come for a while. */
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
