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
  | { readonly as: 'image'; readonly mime: string; readonly base64: string; readonly facts: FileFacts }
  /** `start`: the first bytes, in base64; absent for what has no bytes. */
  | { readonly as: 'facts'; readonly facts: FileFacts; readonly start?: string };

export interface FileFacts {
  readonly sizeBytes: number;
  readonly mtime?: string;
  readonly hash?: string;
}

export type ColumnType = 'whole number' | 'number' | 'boolean' | 'time' | 'text' | 'mixed' | 'empty';

export interface TablePreview {
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
  /** Each with a cell for every column; null: no value. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** The file has more rows or columns. */
  readonly isCut: boolean;
}
