/** Work that runs beside the caller: the first failure stops the rest, and `settle` waits for all of it. */
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
    const task: Promise<void> = work()
      .catch((error: unknown) => {
        this.fail(error);
      })
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  /** Stops everything; `settle` will throw this error (or an earlier one). */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#controller.abort(error);
  }

  /** Throws what a task has failed with, if one has. */
  check(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Lets go of the outer signal, for sets that end long before it does. Nothing may be spawned any more. */
  end(): void {
    this.#controller.abort();
  }

  /** Waits for every task; throws the first failure. Also call it when giving up, so that nothing is left running. */
  async settle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    this.check();
  }
}
