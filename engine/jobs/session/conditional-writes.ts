/**
 * Tests once for each repository whether two machines may push at once, remembers it, and warns before each
 * push.
 */
import { advised } from '../../api/error.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { conditionalWritesHold } from '../remotes/try-remote.ts';
import type { LinkedRepository } from './link-repository.ts';
import type { Session } from './open-workspace.ts';

export async function testConditionalWrites(
  session: Session,
  store: ObjectStore,
  repository: number,
): Promise<boolean> {
  const hold = await conditionalWritesHold(store, session.context.signal);
  session.index.repositories.rememberConditionalWrites(repository, hold);
  return hold;
}

export async function warnIfUnsafe(
  session: Session,
  store: ObjectStore,
  link: LinkedRepository,
): Promise<void> {
  const hold = link.known.conditionalWrites ?? (await testConditionalWrites(session, store, link.known.id));
  if (!hold) warnOfUnsafePushes(session, store);
}

export function warnOfUnsafePushes(session: Pick<Session, 'context'>, store: ObjectStore): void {
  session.context.emit({
    type: 'warning',
    warning: 'unsafeForTwoWriters',
    ...advised(
      `${store.address} does not honour conditional writes. When two machines push at the same moment, the branch can lose ` +
        'a commit. Push from one machine at a time.',
      '"dray remote test" shows the details.',
    ),
  });
}
