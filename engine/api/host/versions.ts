/** The requests about one version of a repository, which the window shows without a checkout. */
import type { Nothing } from './in-workspace.ts';

export interface VersionsRequests {
  /** What an S3 client needs to read the place through `dray gateway`. Sends no request to the remote. */
  'versions.access': { input: { readonly place: string }; answer: VersionAccess };
  /** The secret key of the gateway's pair, for a person who asks to see it. Absent: no pair was made yet. */
  'versions.secret': { input: Nothing; answer: { readonly secretAccessKey?: string } };
}

export interface VersionAccess {
  /** The command that starts the gateway, for a shell. */
  readonly command: string;
  readonly endpoint: string;
  readonly bucket: string;
  /** The branch, tag or commit, which begins each key. */
  readonly ref: string;
  /** The key of the place, or the prefix of its keys, which ends in a slash. */
  readonly key: string;
  /** Absent before the first start of the gateway, which makes the pair. */
  readonly accessKeyId?: string;
}
