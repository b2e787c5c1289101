import type { ObjectStore } from '../../remotes/object-store.ts';
import { packKey } from '../../repository/keys.ts';
import type { KeysToAvoid } from '../../repository/manifest/segment.ts';
import type { BuiltPack, PackBuilder } from '../../repository/packs/pack.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';

export interface PackTarget {
  readonly store: ObjectStore;
  readonly limit: AdaptiveLimit;
  readonly view: KeysToAvoid | undefined;
  readonly signal: AbortSignal;
}

/** Finishes the pack under a name that no collection has condemned, and sends it. */
export async function sendPack(
  { limit, signal, store, view }: PackTarget,
  builder: PackBuilder,
): Promise<BuiltPack> {
  const pack = builder.finish((name) => view?.avoids(packKey(name)) === true);
  const options = { checksum: { sha256: pack.hash }, condition: { absent: true }, signal } as const;
  await limit.run(() => store.put(packKey(pack.hash), pack.bytes, options), {
    bytes: pack.bytes.length,
    signal,
  });
  return pack;
}
