/** The rows of a view that a page shows. */
export interface RowRange {
  readonly offset: number;
  readonly limit: number;
}
