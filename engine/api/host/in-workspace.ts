/** Inputs that many requests of a window share. */

export type Nothing = Readonly<Record<string, never>>;

export interface InWorkspace {
  /** Absolute. */
  readonly root: string;
}
