/** What the window shows of one file. */

export type FilePreview =
  | {
      readonly as: 'text';
      readonly text: string;
      readonly isCut: boolean;
      readonly facts: FileFacts;
      /** The same text as rows, for CSV, TSV and JSON Lines. */
      readonly table?: TablePreview;
    }
  /** A file that holds a table and no text: Parquet. */
  | { readonly as: 'table'; readonly table: TablePreview; readonly facts: FileFacts }
  | { readonly as: 'image'; readonly mime: string; readonly base64: string; readonly facts: FileFacts }
  /** Audio or video; `browse.bytes` has what the browser plays. */
  | { readonly as: 'media'; readonly mime: string; readonly isVideo: boolean; readonly facts: FileFacts }
  /**
   * `start`: the first bytes, in base64; absent for what has no bytes. `why`: why a file of a known kind is
   * not shown as such; a whole sentence.
   */
  | { readonly as: 'facts'; readonly facts: FileFacts; readonly start?: string; readonly why?: string };

/** Of one answer of `browse.bytes`. */
export const BYTES_AT_ONCE_MAX = 512 * 1024;
/** The page holds what it plays. */
export const MEDIA_BYTES_MAX = 128 * 1024 * 1024;

export interface FileFacts {
  readonly sizeBytes: number;
  readonly mtime?: string;
  readonly hash?: string;
}

/** Of a column of text: what all its values shown look like. */
export type ColumnType = 'whole number' | 'number' | 'boolean' | 'time' | 'text' | 'mixed' | 'empty';

export interface TablePreview {
  /** `type`: a `ColumnType`, or the type that a Parquet file declares. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Each with a cell for every column; null: no value. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** The file has more rows or columns. */
  readonly isCut: boolean;
  /** All rows of the file, where the file says how many. */
  readonly rowsTotal?: number;
  /** Sentences on what is not shown. */
  readonly note?: string;
}
