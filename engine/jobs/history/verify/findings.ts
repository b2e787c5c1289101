/** The context of a verification, and the damage that it finds outside of content. */
import { DrayError } from '../../../api/error.ts';
import type { CommitHash, SegmentHash } from '../../../model/entry.ts';
import type { RemoteKey } from '../../../remotes/object-store.ts';
import type { SegmentRef } from '../../../repository/manifest/manifest.ts';
import type { Session } from '../../session/open-workspace.ts';
import type { OpenedRemote } from '../../session/opened-remote.ts';

export interface VerifyTools extends Pick<Session, 'context' | 'clock'>, OpenedRemote {}

export interface CommitSegment {
  readonly segment: SegmentRef;
  /** One of the commits that name it. */
  readonly commit: CommitHash;
}

/** Takes what cannot be read. It throws where a walk must not go on without that. */
export type FindingsReport = Pick<Findings, 'report'>;

/** The refs, commits and segments that cannot be read. */
export class Findings {
  readonly #context: VerifyTools['context'];
  readonly #segments = new Set<SegmentHash>();
  readonly #keys = new Set<RemoteKey>();
  #unreadable = 0;
  #unlistedFiles = 0;

  constructor({ context }: Pick<VerifyTools, 'context'>) {
    this.#context = context;
  }

  /** Those whose key the error says. */
  get keys(): ReadonlySet<RemoteKey> {
    return this.#keys;
  }

  get unreadable(): number {
    return this.#unreadable;
  }

  /** The files that the unreadable segments list. */
  get unlistedFiles(): number {
    return this.#unlistedFiles;
  }

  isReadable({ hash }: SegmentRef): boolean {
    return !this.#segments.has(hash);
  }

  /** Reports a ref, commit or segment that cannot be read as a finding. @throws any other error */
  report(error: unknown, place?: CommitSegment): void {
    if (!isFinding(error)) throw error;
    this.#unreadable += 1;
    if (typeof error.data.key === 'string') this.#keys.add(error.data.key);
    let detail = error.message;
    if (place) {
      const { hash, first, last, files } = place.segment;
      this.#segments.add(hash);
      this.#unlistedFiles += files;
      detail += ` It lists ${files} files of commit ${place.commit}, from ${first} to ${last}.`;
    }
    this.#context.emit({ type: 'check', check: 'damaged', result: 'failed', detail });
  }
}

export function isFinding(error: unknown): error is DrayError {
  return error instanceof DrayError && (error.code === 'damaged' || error.code === 'notFound');
}
