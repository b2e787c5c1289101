/** The facts that must survive a crash to resume a multipart upload: one row for each key. */
export interface UploadJournal {
  load(key: string): JournaledUpload | undefined;
  /** Durable when it returns. */
  save(key: string, upload: JournaledUpload): void;
  forget(key: string): void;
}

export interface JournaledUpload {
  readonly uploadId: string;
  readonly partSizeBytes: number;
  /**
   * Identifies the uploaded source, as `upload-session.ts` writes and reads it. Absent when the journal does
   * not keep it.
   */
  readonly token?: string;
}
