/** What `dray upgrade` and `dray key` do with a repository as a whole. */

export interface UpgradeRequest {
  /** How new content is stored from now on. Absent: as before. */
  readonly compression?: 'auto' | 'max' | 'off';
}

export interface UpgradeSummary {
  readonly result: 'upgraded' | 'upToDate';
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
