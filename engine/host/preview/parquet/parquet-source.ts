/** The bytes of a Parquet file, read by ranges. */
export interface ParquetSource {
  readonly sizeBytes: number;
  /** `end` is exclusive. */
  read(start: number, end: number): Promise<Uint8Array>;
}
