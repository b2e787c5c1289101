/** A preview of one file, for the window. */

export type FilePreview =
  | {
      readonly as: 'text';
      readonly text: string;
      readonly isCut: boolean;
      readonly facts: FileFacts;
      /** The same text as rows, for CSV, TSV and JSON Lines. */
      readonly table?: TablePreview;
    }
  /** A table in a binary file: Parquet. */
  | { readonly as: 'table'; readonly table: TablePreview; readonly facts: FileFacts }
  | { readonly as: 'image'; readonly mime: string; readonly base64: string; readonly facts: FileFacts }
  /** Audio or video, which the page reads from `source` in parts. */
  | {
      readonly as: 'media';
      readonly mime: string;
      readonly isVideo: boolean;
      readonly facts: FileFacts;
      readonly source: BytesSource;
    }
  /**
   * `start`: the first bytes, in base64; absent for folders and empty files. `why`: the reason why a file of
   * a known kind is not shown as such; a whole sentence.
   */
  | { readonly as: 'facts'; readonly facts: FileFacts; readonly start?: string; readonly why?: string };

/** The input of `browse.bytes` for a place, of `history.bytes` for a file of a commit. */
export type BytesSource =
  | { readonly place: string }
  | { readonly root: string; readonly commit: string; readonly path: string };

/** The most bytes in one answer of `browse.bytes` or `history.bytes`. */
export const BYTES_AT_ONCE_MAX = 512 * 1024;
/** The largest file that a page plays, because the page holds the whole file in memory. */
export const MEDIA_BYTES_MAX = 128 * 1024 * 1024;

export interface FileFacts {
  readonly sizeBytes: number;
  readonly mtime?: string;
  readonly hash?: string;
}

/** The type of a text column, by its shown values. */
export type ColumnType = 'whole number' | 'number' | 'boolean' | 'time' | 'text' | 'mixed' | 'empty';

export interface TablePreview {
  /** `type`: a `ColumnType`, or the type that a Parquet file declares. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Each row has a cell for every column. Null: no value. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** True if the file has more rows or columns. */
  readonly isCut: boolean;
  /** The number of rows in the file, if it is known without reading all of it. */
  readonly rowsTotal?: number;
  /** Sentences about columns that are not shown. */
  readonly note?: string;
}
