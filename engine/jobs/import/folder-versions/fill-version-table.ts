/** Lists all versions below a place into a table. */
import type { VersionTable } from '../../../index/version-table.ts';
import type { ListedVersion, VersionsMarker } from '../../../remotes/object-store.ts';
import type { OpenedRemote } from '../../session/opened-remote.ts';

export interface ListedVersions {
  /** Versions and deletions. */
  readonly count: number;
  /** False: the bucket has never kept versions. */
  readonly keepsVersions: boolean;
}

/** The id of an object from before the bucket kept versions. */
const NO_VERSION = 'null';

/** One request for each 1,000 versions. */
export async function fillVersionTable(
  { limit, store }: OpenedRemote,
  table: VersionTable,
  signal: AbortSignal,
): Promise<ListedVersions> {
  let count = 0;
  let keepsVersions = false;
  /** Of one key, the newest first. They may begin on one page and end on the next. */
  let ofKey: ListedVersion[] = [];
  let continuation: VersionsMarker | undefined;
  do {
    const request = { prefix: '', ...(continuation && { continuation }) };
    const page = await limit.run(() => store.versions!(request, { signal }), { bytes: 0, signal });
    const whole: ListedVersion[][] = [];
    for (const version of page.versions) {
      if (version.key !== ofKey[0]?.key) {
        whole.push(ofKey);
        ofKey = [];
      }
      ofKey.push(version);
      keepsVersions ||= version.versionId !== NO_VERSION;
    }
    count += page.versions.length;
    table.add(whole.flatMap(inTime));
    continuation = page.continuation;
  } while (continuation);
  table.add(inTime(ofKey));
  return { count, keepsVersions };
}

/**
 * Of one key, the oldest first. S3 gives an object that came in parts the time at which its upload began. So
 * a version counts as made no earlier than the one before it.
 */
function inTime(versions: readonly ListedVersion[]) {
  let atMs = 0;
  return versions.toReversed().map(({ content, isLatest, key: path, modifiedMs, versionId }) => {
    atMs = Math.max(atMs, modifiedMs);
    const change = { path, modifiedMs, ...(content && { content: { ...content, versionId } }) };
    return { change, atMs, isLatest };
  });
}
