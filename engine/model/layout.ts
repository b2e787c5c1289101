/** How a repository stores blobs: set when it is created and kept in its descriptor. */
export interface Layout {
  /** Blobs smaller than this go into packs, in bytes; 0 turns packs off. */
  readonly packBelow: number;
  /** A pack is finished when it reaches this size, in bytes. */
  readonly packTarget: number;
  /** Files larger than this are cut into chunks, in bytes; 0 turns cutting off. */
  readonly chunkAbove: number;
  /** Bounds of a chunk, in bytes. */
  readonly chunkSize: { readonly min: number; readonly average: number; readonly max: number };
  /** Absent: blobs are stored as they are. */
  readonly compression?: Compression | undefined;
  /** Of an encrypted repository: what seeds the chunker's table, 64 hexadecimal digits. */
  readonly cutterKey?: string | undefined;
}

/** Blobs are compressed where that pays: fast, or as small as a writer can bear. */
export type Compression = 'auto' | 'max';

const MIB = 1024 * 1024;

export const DEFAULT_LAYOUT: Layout = {
  packBelow: MIB,
  packTarget: 32 * MIB,
  chunkAbove: 64 * MIB,
  chunkSize: { min: MIB, average: 4 * MIB, max: 16 * MIB },
  compression: 'auto',
};

/**
 * Of an encrypted repository: an object of its own would show the size of its file. So small and middle files
 * go into packs, and larger ones are cut, in places that the key decides.
 */
export const ENCRYPTED_LAYOUT: Layout = { ...DEFAULT_LAYOUT, packBelow: 8 * MIB, chunkAbove: 8 * MIB };

/** The simple layout: one object for each file, named by its hash. */
export const OBJECTS_LAYOUT: Layout = { ...DEFAULT_LAYOUT, packBelow: 0, chunkAbove: 0 };
