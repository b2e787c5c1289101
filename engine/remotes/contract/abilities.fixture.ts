/**
 * The abilities that a store may lack and still pass the contract suite. Its test declares them, and the
 * suite tests both cases.
 */
export interface StoreAbilities {
  /** Returns content type, metadata and the headers of an object. */
  readonly keepsDescriptions: boolean;
  /** Keeps and returns checksums, and joins those of an upload's parts to that of the whole. */
  readonly keepsChecksums: boolean;
  /** `head` with a part's number returns its size and the number of parts. */
  readonly countsParts: boolean;
  /** `parts` returns the parts' checksums. */
  readonly listsParts: boolean;
  /** `copy` obeys `condition`. */
  readonly copiesUnderConditions: boolean;
  /** `delete` is known to obey `ifMatch`. */
  readonly removesUnderConditions: boolean;
}

/** The memory store, and its wrappers. */
export const MEMORY_STORE: StoreAbilities = {
  keepsDescriptions: true,
  keepsChecksums: true,
  countsParts: true,
  listsParts: true,
  copiesUnderConditions: true,
  removesUnderConditions: true,
};

/** A folder keeps files and nothing else about them. */
export const FILE_STORE: StoreAbilities = {
  keepsDescriptions: false,
  keepsChecksums: false,
  countsParts: false,
  listsParts: false,
  copiesUnderConditions: true,
  removesUnderConditions: true,
};

export const VERSITYGW: StoreAbilities = {
  keepsDescriptions: true,
  keepsChecksums: true,
  countsParts: true,
  listsParts: false,
  copiesUnderConditions: false,
  removesUnderConditions: true,
};

export const MINIO: StoreAbilities = { ...VERSITYGW, listsParts: true, removesUnderConditions: false };
