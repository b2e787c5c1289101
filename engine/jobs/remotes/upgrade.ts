/**
 * `dray upgrade`: lets an older repository collect garbage, and changes how a repository compresses. First
 * the descriptor says so, then every ref, each by compare-and-swap. So an older Dray that is pushing meets a
 * ref that it must not read, and stops. A command that is killed goes on when it runs again.
 *
 * Other workspaces go on with the compression that they know, until `dray upgrade` runs there too: content is
 * read by what its entry says, and a writer judges what it finds by its size.
 */
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { UpgradeRequest, UpgradeSummary } from '../../api/jobs/repositories.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { type Descriptor, readDescriptor, upgradeDescriptor } from '../../repository/descriptor.ts';
import { FEATURE_COLLECTION } from '../../repository/document.ts';
import { listAnyRefs, type RefKind, writeAnyRef } from '../../repository/refs.ts';
import { checkSameRepository, notARepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';

const KINDS: readonly RefKind[] = ['heads', 'tags'];

export async function upgrade(
  context: JobContext,
  { dryRun = false, ...request }: UpgradeRequest = {},
): Promise<UpgradeSummary> {
  using session = await openSession(context, 'upgrade');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const call = { signal: context.signal };
  const found = await readDescriptor(store, call);
  if (!found) throw notARepository(store, { isUnmet: false });
  checkSameRepository(store, session.config.remotes[session.remoteName]!.repository, found.id);
  if (dryRun) return planUpgrade(store, found, call);
  const isChanged = await upgradeDescriptor(store, request, call);
  let refs = 0;
  // Another machine may make or move a ref during a pass: passes go on until one finds nothing to change.
  for (let changed = -1; changed !== 0; ) {
    changed = 0;
    for (const kind of KINDS) {
      for (const { etag, name, ...ref } of await listAnyRefs(store, kind, call)) {
        if (ref.collects) continue;
        changed += 1;
        const { written } = await writeAnyRef(store, name, { ...ref, collects: true }, { etag }, call);
        if (written) refs += 1;
      }
    }
  }
  const descriptor = (await readDescriptor(store, call)) ?? found;
  keepCompression(session, descriptor);
  const { features, layout } = descriptor;
  const result = isChanged || refs > 0 ? 'upgraded' : 'upToDate';
  return { result, refs, features, compression: layout.compression ?? 'off' };
}

async function planUpgrade(
  store: ObjectStore,
  { features, layout }: Descriptor,
  call: CallOptions,
): Promise<UpgradeSummary> {
  const found = await Promise.all(KINDS.map((kind) => listAnyRefs(store, kind, call)));
  const refs = found.flat().filter(({ collects }) => !collects).length;
  const isNeeded = refs > 0 || !features.includes(FEATURE_COLLECTION);
  const result = isNeeded ? 'wouldUpgrade' : 'upToDate';
  return { result, refs, features, compression: layout.compression ?? 'off' };
}

/** The rest of what a workspace keeps of its repository never changes. */
function keepCompression(session: Session, { layout: { compression } }: Descriptor): void {
  const { config, remoteName } = session;
  const remote = config.remotes[remoteName]!;
  if (!remote.layout || remote.layout.compression === compression) return;
  const kept = { ...remote, layout: { ...remote.layout, compression } };
  session.saveConfig({ ...config, remotes: { ...config.remotes, [remoteName]: kept } });
}
