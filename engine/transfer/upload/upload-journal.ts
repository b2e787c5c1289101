/** What must survive a crash for a multipart upload to go on: one row for each key. */
export interface UploadJournal {
  load(key: string): JournaledUpload | undefined;
  /** Durable when it returns. */
  save(key: string, upload: JournaledUpload): void;
  forget(key: string): void;
}

export interface JournaledUpload {
  readonly uploadId: string;
  readonly partSizeBytes: number;
  /** What the upload was of, as `upload-session.ts` writes and reads it. Absent where the journal does not keep it. */
  readonly token?: string;
}
