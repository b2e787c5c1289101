/**
 * Reads a page of ListObjectVersions. Amazon, MinIO and Ceph write versions and deletions in one order, the
 * newest of a key first. That order counts, not the times: these are whole seconds, and an object that came
 * in parts has the time at which its upload began. versitygw writes all deletions first.
 */
import { comparePaths } from '../../../model/entry.ts';
import { incompleteListing } from '../../listing-advance.ts';
import type { ListedVersion } from '../../object-store.ts';
import { keyDecoderOf, placedElementsOf, textOf, timeOf, unquote } from './s3-xml.ts';

export interface RawVersionsPage {
  /** Full keys, with the remote's prefix. */
  readonly versions: readonly ListedVersion[];
  readonly next: { readonly key: string; readonly versionId: string | undefined } | undefined;
}

const END = '</ListVersionsResult>';

/** @throws DrayError `remoteFailed`, to be repeated */
export function readVersionsPage(xml: string): RawVersionsPage {
  if (!xml.trimEnd().endsWith(END)) throw incompleteListing('its answer is not a complete list');
  const decodeKey = keyDecoderOf(xml);
  const textIn = (element: string, name: string) => textOf(element, name) ?? '';
  const keyIn = (element: string) => {
    const key = decodeKey(textIn(element, 'Key'));
    if (key === '') throw incompleteListing('a version has no key');
    return key;
  };
  const describe = (element: string) => ({
    key: keyIn(element),
    versionId: textIn(element, 'VersionId') || 'null',
    isLatest: textIn(element, 'IsLatest') === 'true',
    modifiedMs: timeOf(textOf(element, 'LastModified')),
  });
  const kept = [...placedElementsOf(xml, 'Version')].map(({ at, text }) => {
    const content = { sizeBytes: Number(textIn(text, 'Size')), etag: unquote(textIn(text, 'ETag')) };
    return { at, version: { ...describe(text), content } };
  });
  const deleted = [...placedElementsOf(xml, 'DeleteMarker')].map(({ at, text }) => ({
    at,
    version: describe(text),
  }));
  const versions = inOrder(kept, deleted);
  const key = textOf(xml, 'NextKeyMarker');
  const isTruncated = textOf(xml, 'IsTruncated')?.trim() === 'true';
  // Some servers name the last version of the last page too: what follows is read once more, and is empty.
  if (!isTruncated && (!key || versions.length === 0)) return { versions, next: undefined };
  if (!key) throw incompleteListing('it names no next page');
  const versionId = textIn(xml, 'NextVersionIdMarker') || undefined;
  return { versions, next: { key: decodeKey(key), versionId } };
}

interface Placed {
  /** In the document. */
  readonly at: number;
  readonly version: ListedVersion;
}

function inOrder(kept: readonly Placed[], deleted: readonly Placed[]): readonly ListedVersion[] {
  const asWritten = [...kept, ...deleted].sort((left, right) => left.at - right.at).map(versionOf);
  const isMixed = kept.length > 0 && deleted.length > 0 && kept[0]!.at < deleted.at(-1)!.at;
  const isSorted = asWritten.every(
    ({ key }, at) => at === 0 || comparePaths(asWritten[at - 1]!.key, key) <= 0,
  );
  return isMixed && isSorted ? asWritten : merge(kept.map(versionOf), deleted.map(versionOf));
}

function versionOf({ version }: Placed): ListedVersion {
  return version;
}

/** Each list is in order. */
function merge(kept: readonly ListedVersion[], deleted: readonly ListedVersion[]): ListedVersion[] {
  const merged: ListedVersion[] = [];
  let at = 0;
  for (const version of kept) {
    for (; at < deleted.length && isBefore(deleted[at]!, version); at += 1) merged.push(deleted[at]!);
    merged.push(version);
  }
  return [...merged, ...deleted.slice(at)];
}

/** The ids of versitygw's versions. They begin with the time. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

function isBefore(left: ListedVersion, right: ListedVersion): boolean {
  const byKey = comparePaths(left.key, right.key);
  if (byKey !== 0) return byKey < 0;
  if (left.isLatest !== right.isLatest) return left.isLatest;
  if (ULID.test(left.versionId) && ULID.test(right.versionId)) return left.versionId > right.versionId;
  return left.modifiedMs > right.modifiedMs;
}
