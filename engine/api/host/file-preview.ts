/** What the window shows of one file. */

export type FilePreview =
  | { readonly as: 'text'; readonly text: string; readonly isCut: boolean; readonly facts: FileFacts }
  | { readonly as: 'image'; readonly mime: string; readonly base64: string; readonly facts: FileFacts }
  | { readonly as: 'facts'; readonly facts: FileFacts };

export interface FileFacts {
  readonly sizeBytes: number;
  readonly mtime?: string;
  readonly hash?: string;
}
