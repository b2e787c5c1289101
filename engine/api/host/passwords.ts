/** The requests for passwords of encrypted repositories. No answer holds a password or a master key. */
import type {
  KeyChangeSummary,
  KeyListSummary,
  LockedRepository,
  SealedRepository,
} from '../jobs/repositories.ts';
import type { InWorkspace, Nothing } from './in-workspace.ts';

export interface PasswordsRequests {
  /** The repositories that the engine can open without a password. */
  'passwords.list': { input: Nothing; answer: { readonly repositories: readonly LockedRepository[] } };
  /**
   * Tries the password, or a recovery key, on the repository of an error (`missingPasswordOf`). Sends no
   * request. The engine then holds the repository's master key in memory until it ends; the password is not
   * kept. Fails with `wrongPassword`.
   */
  'passwords.unlock': { input: SealedRepository & { readonly password: string }; answer: Nothing };
  /** Forgets the master key. */
  'passwords.lock': { input: SealedRepository; answer: Nothing };
  /** Passwords and recovery keys of a workspace's repository. Needs no password. */
  'passwords.keys': { input: InWorkspace; answer: KeyListSummary };
  /** As `dray key`. Each change needs a password, also while the master key is held. */
  'passwords.change': {
    input: InWorkspace & { readonly password: string; readonly change: PasswordChange };
    answer: KeyChangeSummary;
  };
}

export type PasswordChange =
  | { readonly kind: 'add'; readonly label: string; readonly newPassword: string }
  | { readonly kind: 'addRecovery'; readonly label: string }
  | { readonly kind: 'replace'; readonly newPassword: string }
  | { readonly kind: 'remove'; readonly id: string };
