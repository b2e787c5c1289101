/** Checks `dray.json` against the refs, and against what the workspace knows of its repository. */
import { isDeepStrictEqual } from 'node:util';
import { DrayError } from '../../../api/error.ts';
import { type Descriptor, readDescriptor } from '../../../repository/descriptor.ts';
import { damaged, FEATURE_COLLECTION } from '../../../repository/document.ts';
import { COMMITS_PREFIX, DESCRIPTOR_KEY } from '../../../repository/keys.ts';
import type { StoredRef } from '../../../repository/refs.ts';
import { notARepository } from '../../session/link-repository.ts';
import type { Session } from '../../session/open-workspace.ts';
import type { FindingsReport, VerifyTools } from './findings.ts';

/**
 * One request. A workspace never needs the descriptor again once it has met its repository, so nobody else
 * would notice that no new clone can be made.
 * @param refs Those that can be read.
 * @throws `notARepository` for a place without descriptor and refs
 */
export async function checkDescriptor(
  session: Session,
  { context: { signal }, store }: VerifyTools,
  { findings, isEmpty, refs }: CheckedRefs,
): Promise<void> {
  try {
    const found = await readDescriptor(store, { signal });
    if (!found && isEmpty) await refuseNothing(session, store);
    const why = found ? whyWrong(session, found, refs) : 'it is missing';
    if (why !== undefined) throw damaged(DESCRIPTOR_KEY, `${why}. No new clone can be made`);
  } catch (error) {
    if (error instanceof DrayError && error.code === 'notARepository') throw error;
    findings.report(error);
  }
}

/** A wrong address, or everything is lost. Commits show that it was a repository. */
async function refuseNothing(
  { config, context: { signal }, remoteName }: Session,
  store: VerifyTools['store'],
): Promise<void> {
  if (config.remotes[remoteName]?.repository === undefined) throw notARepository(store, { isUnmet: true });
  const { objects } = await store.list({ prefix: COMMITS_PREFIX, limit: 1 }, { signal });
  if (objects.length > 0) return;
  const message = `There is nothing of the repository at ${store.address}: no dray.json, no branch, no tag and no commit.`;
  throw new DrayError('notARepository', message, {
    data: { remote: store.address, reason: 'nothingThere' },
    advice:
      'Check the URL. If all of it is lost, push to a new place: "dray remote add NAME URL", then "dray push --remote NAME".',
  });
}

interface CheckedRefs {
  readonly refs: readonly StoredRef[];
  /** There is none, readable or not. */
  readonly isEmpty: boolean;
  readonly findings: FindingsReport;
}

function remoteOf({ config, remoteName }: Session) {
  return config.remotes[remoteName];
}

/** Compression and features may have changed since; the id, the sizes and the encryption never do. */
function whyWrong(session: Session, found: Descriptor, refs: readonly StoredRef[]): string | undefined {
  const other = refs.find(({ repository }) => repository !== found.id);
  if (other)
    return `it says that this is the repository ${found.id}, and refs/${other.name} ${other.repository}`;
  const { layout, repository, sealed } = remoteOf(session) ?? {};
  if (repository !== undefined && repository !== found.id)
    return `it says that this is the repository ${found.id}, and this workspace belongs to ${repository}`;
  if (repository !== undefined && sealed !== found.encryption?.check)
    return 'what it says of the encryption is not what this workspace knows';
  if (layout && !isDeepStrictEqual(sizesOf(found.layout), sizesOf(layout)))
    return 'its layout is not the one that this workspace knows';
  if (refs.some(({ collects }) => collects) && !found.features.includes(FEATURE_COLLECTION))
    return 'it lacks the feature "collection", which the refs have';
  return undefined;
}

function sizesOf({ chunkAbove, chunkSize, packBelow, packTarget }: Descriptor['layout']) {
  return { chunkAbove, chunkSize, packBelow, packTarget };
}
