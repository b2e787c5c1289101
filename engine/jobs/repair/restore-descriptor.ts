/**
 * Writes `dray.json` again from what this workspace knows: the repository's id, its layout, and that it is
 * encrypted and by which keys. That never changes. The refs say whether garbage is collected. What nobody
 * knows is when the repository was made; and content may have been compressed for a time that this workspace
 * has not seen, so a reader must know compression all the same.
 */
import { DrayError } from '../../api/error.ts';
import { replaceDescriptor } from '../../repository/descriptor.ts';
import { FEATURE_COLLECTION, FEATURE_ENCRYPTION, FEATURE_ZSTD, FORMAT } from '../../repository/document.ts';
import { COLLECTION_KEY, DESCRIPTOR_KEY } from '../../repository/keys.ts';
import { readRefs } from '../history/verify/find-commits.ts';
import { isFinding, type VerifyTools } from '../history/verify/findings.ts';
import { checkBelongs } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { findStored } from './retire-keys.ts';

/**
 * Two LISTs, and the refs.
 * @throws `damaged` if this workspace has not met the repository; `notARepository` if refs are another's
 */
export async function restoreDescriptor(session: Session, tools: VerifyTools): Promise<void> {
  const { context, store } = tools;
  const { signal } = context;
  const { layout, repository, sealed } = session.config.remotes[session.remoteName] ?? {};
  if (repository === undefined || !layout) throw unknown(store);
  const skipped = { report: (error: unknown) => void (isFinding(error) || raise(error)) };
  const { present, tips } = await readRefs(tools, skipped);
  for (const tip of tips) checkBelongs(store, tip, repository);
  const collects =
    present.length === 0 ||
    tips.some((ref) => ref.collects) ||
    (await findStored(store, COLLECTION_KEY, signal)) !== undefined;
  const { cutterKey: _, ...stored } = layout;
  const features = [
    ...(collects ? [FEATURE_COLLECTION, FEATURE_ZSTD] : []),
    ...(sealed === undefined ? [] : [FEATURE_ENCRYPTION]),
  ];
  const etag = (await findStored(store, DESCRIPTOR_KEY, signal))?.etag;
  await replaceDescriptor(
    store,
    {
      format: FORMAT,
      id: repository,
      created: new Date(session.clock.nowMs()).toISOString(),
      layout: stored,
      features,
      ...(sealed === undefined ? {} : { encryption: { check: sealed } }),
    },
    { etag, signal },
  );
  const message =
    'dray.json was written again, from what this workspace knows. The time at which the repository was made is ' +
    `lost. Compression is ${layout.compression ?? 'off'}, as this workspace has last seen it.`;
  const advice = 'Set it with "dray upgrade --compress" if it was changed since.';
  context.emit({ type: 'warning', warning: 'descriptorRestored', message: `${message} ${advice}`, advice });
}

function raise(error: unknown): never {
  throw error;
}

function unknown({ address }: VerifyTools['store']): DrayError {
  const message = `dray.json at ${address} is lost, and this workspace has never met the repository, so it cannot say what was in it.`;
  return new DrayError('damaged', message, {
    data: { key: DESCRIPTOR_KEY, reason: 'descriptorUnknown' },
    advice: 'Run "dray repair" in a workspace that has pushed to it or pulled from it.',
  });
}
