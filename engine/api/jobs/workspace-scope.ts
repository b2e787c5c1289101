/** Of a workspace that holds a part of the dataset. */
export interface WorkspaceScope {
  /** Its patterns. */
  readonly only: readonly string[];
  readonly outside: OutsideFiles;
}

/** Files and links here that are outside of the workspace's scope: a push leaves them out. */
export interface OutsideFiles {
  readonly count: number;
  /** The first 20. */
  readonly paths: readonly string[];
}
