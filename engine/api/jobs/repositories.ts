/** What `dray upgrade` and `dray key` do with a repository as a whole, and the keys of encrypted ones. */

export interface SealedRepository {
  readonly id: string;
  /** `SealKeys.check` of its master key. */
  readonly check: string;
}

export interface LockedRepository extends SealedRepository {
  readonly address: string;
}

/** The master keys of the repositories that this process has opened. It asks for no password twice. */
export interface MasterKeys {
  readonly find: (repository: SealedRepository) => Uint8Array | undefined;
  readonly keep: (repository: LockedRepository, master: Uint8Array) => void;
  /**
   * Called before a password is looked for.
   * @param unlock Tries a password without a request. Rejects with `wrongPassword`, `damaged`.
   */
  readonly miss: (repository: LockedRepository, unlock: (password: string) => Promise<Uint8Array>) => void;
}

export interface UpgradeRequest {
  readonly dryRun?: boolean;
  /** How new content is stored from now on. Absent: as before. */
  readonly compression?: 'auto' | 'max' | 'off';
}

export interface UpgradeSummary {
  readonly result: 'upgraded' | 'wouldUpgrade' | 'upToDate';
  /** Branches and tags that were rewritten. */
  readonly refs: number;
  /** What a version must know from now on to use the repository. */
  readonly features: readonly string[];
  readonly compression: 'auto' | 'max' | 'off';
}

export interface KeySlotRecord {
  /** As many digits as tell it from the others, at least 8. */
  readonly id: string;
  readonly kind: 'password' | 'recovery';
  readonly label: string;
  readonly created: string;
}
/** Of a key's label. */
export const LABEL_CHARS_MAX = 200;

export interface KeyListSummary {
  readonly keys: readonly KeySlotRecord[];
  /** Slots that cannot be read. */
  readonly damaged: readonly string[];
}
export interface KeyAddRequest {
  readonly kind: 'password' | 'recovery';
  readonly label?: string;
}
export interface KeyChangeSummary {
  readonly result: 'added' | 'removed' | 'changed';
  readonly key: KeySlotRecord;
  readonly recoveryKey?: string;
}
