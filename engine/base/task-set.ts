/**
 * Work that runs concurrently: the first failure stops the other tasks, and `settle` waits for all of them.
 */
export class TaskSet {
  readonly #tasks = new Set<Promise<void>>();
  readonly #controller = new AbortController();
  #failure: { readonly error: unknown } | undefined;

  /** @param outer Stops the tasks too when it fires. */
  constructor(outer: AbortSignal) {
    if (outer.aborted) this.#controller.abort(outer.reason);
    else
      outer.addEventListener('abort', () => this.#controller.abort(outer.reason), {
        once: true,
        signal: this.#controller.signal,
      });
  }

  /** Fires when the outer signal does, or when a task has failed. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get size(): number {
    return this.#tasks.size;
  }

  spawn(work: () => Promise<void>): void {
    const task: Promise<void> = work().then(
      () => {
        this.#tasks.delete(task);
      },
      (error: unknown) => {
        this.fail(error);
        this.#tasks.delete(task);
      },
    );
    this.#tasks.add(task);
  }

  /** Stops everything; `settle` will throw this error (or an earlier one). */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#controller.abort(error);
  }

  /** Throws the first failure, if there is one. */
  check(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /**
   * Removes the listener on the outer signal, for sets that end long before it. No task may be spawned
   * afterwards.
   */
  end(): void {
    this.#controller.abort();
  }

  /**
   * Waits for every task and throws the first failure. Also call it when giving up, so that nothing keeps
   * running.
   */
  async settle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    this.check();
  }
}
