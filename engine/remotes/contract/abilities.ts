/** What a store that passes the contract suite may lack. Declared by its test, and tested either way. */
export interface StoreAbilities {
  /** Content type, metadata and the headers that go with an object are given back. */
  readonly keepsDescriptions: boolean;
  /** Checksums are kept and told; those of an upload's parts are joined to that of the whole. */
  readonly keepsChecksums: boolean;
  /** `head` with a part's number tells its size, and how many there are. */
  readonly countsParts: boolean;
  /** `parts` tells the parts' checksums. */
  readonly tellsParts: boolean;
  /** `copy` obeys `condition`. */
  readonly copiesUnderConditions: boolean;
}

/** The memory store, and what wraps it. */
export const MEMORY_STORE: StoreAbilities = {
  keepsDescriptions: true,
  keepsChecksums: true,
  countsParts: true,
  tellsParts: true,
  copiesUnderConditions: true,
};

/** A folder keeps files, and nothing beside them. */
export const FILE_STORE: StoreAbilities = {
  keepsDescriptions: false,
  keepsChecksums: false,
  countsParts: false,
  tellsParts: false,
  copiesUnderConditions: true,
};

export const VERSITYGW: StoreAbilities = {
  keepsDescriptions: true,
  keepsChecksums: true,
  countsParts: true,
  tellsParts: false,
  copiesUnderConditions: false,
};

export const MINIO: StoreAbilities = { ...VERSITYGW, tellsParts: true };
