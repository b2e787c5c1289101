/** The requests for remotes, keys, and other machines. */
import type { MetPeer, RequestTotals } from '../jobs/jobs.ts';
import type { KnownPeer, LoginRequest, LoginSummary } from '../jobs/peers.ts';
import type { Nothing } from './in-workspace.ts';

export interface RemotesRequests {
  'remotes.list': { input: Nothing; answer: { readonly remotes: readonly RemoteCard[] } };
  'remotes.add': { input: { readonly name: string; readonly url: string }; answer: Nothing };
  /** Changes the name or the URL of one of the user's own remotes. */
  'remotes.change': {
    input: { readonly name: string; readonly to: { readonly name: string; readonly url: string } };
    answer: Nothing;
  };
  'remotes.remove': { input: { readonly name: string }; answer: Nothing };
  /**
   * Emits `check` events. Uses `keys` (for the target's profile) or `token` (for its machine) for this test
   * only.
   */
  'remotes.test': {
    input: { readonly target: string; readonly keys?: AccessKeys; readonly token?: string };
    answer: { readonly passed: number; readonly failed: number };
  };
  /** The places on this machine that can provide a store's keys. */
  'remotes.keySources': { input: Nothing; answer: KeySources };
  'remotes.importable': { input: Nothing; answer: { readonly candidates: readonly ImportCandidate[] } };
  /** The requests that this user's transfers sent to each remote, by month, newest first. */
  'remotes.usage': { input: Nothing; answer: { readonly months: readonly UsageRow[] } };
}

export interface KeysRequests {
  /** The profiles whose typed keys the engine holds. Their values never return to a window. */
  'keys.list': { input: Nothing; answer: { readonly profiles: readonly string[] } };
  /**
   * Holds the keys of a profile that URLs name (`profile=`), in the engine's memory until it ends. Without
   * `keys`, removes them.
   */
  'keys.hold': { input: { readonly profile: string; readonly keys?: AccessKeys }; answer: Nothing };
}

export interface PeersRequests {
  /** The machines with a saved token or a trusted certificate. */
  'peers.list': { input: Nothing; answer: { readonly peers: readonly KnownPeer[] } };
  /** Saves the token for this machine only. */
  'peers.login': { input: LoginRequest; answer: LoginSummary };
  'peers.logout': { input: Pick<LoginRequest, 'peer'>; answer: LoginSummary };
  /** Trusts a fingerprint that the user compared. Fails with `accessDenied` where another one is trusted. */
  'peers.trust': { input: MetPeer; answer: Nothing };
}

export interface RemoteCard {
  readonly name: string;
  readonly url: string;
  /** `user`: defined for every folder; otherwise the workspace's root. */
  readonly of: string;
}

export interface AccessKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface KeySources {
  /** Names for a URL's `profile=`: profiles of `~/.aws`, remotes of rclone with keys, and saved keys. */
  readonly profiles: readonly { readonly name: string; readonly from: 'aws' | 'rclone' | 'kept' }[];
  /** The engine's environment holds AWS keys. */
  readonly hasEnvironmentKeys: boolean;
}

export interface UsageRow {
  /** Such as `2026-01`, UTC. */
  readonly month: string;
  /** A URL without secrets; for a copy between two remotes, both. */
  readonly place: string;
  readonly transfers: number;
  readonly requests: RequestTotals;
}

export interface ImportCandidate {
  readonly from: 'aws' | 'rclone';
  readonly name: string;
  /** Without a bucket where the source names none. */
  readonly url: string;
  readonly note?: string;
}
