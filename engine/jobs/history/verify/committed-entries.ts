/**
 * The entries of commits that are verified or collected. A verification reads them again for a damage: memory
 * holds a few segments.
 */
import type { CommitHash, Entry } from '../../../model/entry.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { readOne, type WalkTools } from './find-commits.ts';
import type { CommitSegment, Findings, VerifyTools } from './findings.ts';

export interface CommittedEntriesOptions {
  /** Commits that contain their entries themselves. */
  readonly inlineCommits: readonly CommitHash[];
  /** Each once, however many commits share it. */
  readonly segments: readonly CommitSegment[];
  readonly findings: Findings;
}

export async function* committedEntries(
  tools: VerifyTools,
  options: CommittedEntriesOptions,
): AsyncGenerator<readonly Entry[]> {
  for (const hash of options.inlineCommits) {
    const commit = await readOne(tools, hash, options.findings);
    if (commit?.manifest.kind === 'inline') yield commit.manifest.entries;
  }
  yield* segmentEntries(tools, options);
}

export interface SegmentEntriesOptions {
  readonly segments: readonly CommitSegment[];
  readonly findings: Pick<Findings, 'isReadable' | 'report'>;
}

/** Reports a segment that cannot be read, the first time. */
export async function* segmentEntries(
  { context: { signal }, store }: Omit<WalkTools, 'limit'>,
  { findings, segments }: SegmentEntriesOptions,
): AsyncGenerator<readonly Entry[]> {
  let left = segments.filter(({ segment }) => findings.isReadable(segment));
  while (left.length > 0) {
    let done = 0;
    const manifest = { kind: 'segments', segments: left.map(({ segment }) => segment) } as const;
    try {
      // One batch for each segment, in their order.
      for await (const entries of readEntries(store, { manifest }, { signal })) {
        done += 1;
        yield entries;
      }
    } catch (error) {
      findings.report(error, left[done]!);
    }
    left = left.slice(done + 1);
  }
}
