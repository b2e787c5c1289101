/** The listeners of a value outside React, for `useSyncExternalStore`. */
export interface Listeners {
  readonly notify: () => void;
  /** @returns A function that removes the listener. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function createListeners(): Listeners {
  const listeners = new Set<() => void>();
  return {
    notify: () => {
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
