/** What `cat --from` reads of a commit. */
export interface ReadCommittedRequest {
  /** A branch, a tag or a commit; `@`: the base. */
  readonly from: string;
  /** Relative to `context.directory`. */
  readonly path: string;
  /** Only the first bytes, or bytes from an offset. */
  readonly offsetBytes?: number;
  readonly lengthBytes?: number;
}
