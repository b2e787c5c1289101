/** Whether two machines may push to the remote at once: tried once for each repository, remembered, told before each push. */
import type { ObjectStore } from '../../remotes/object-store.ts';
import { conditionalWritesHold } from '../remotes/remote-test.ts';
import type { LinkedRepository } from './link-repository.ts';
import type { Session } from './session.ts';

export async function learnConditionalWrites(
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
  const hold = link.known.conditionalWrites ?? (await learnConditionalWrites(session, store, link.known.id));
  if (!hold) tellUnsafe(session, store);
}

export function tellUnsafe(session: Pick<Session, 'context'>, store: ObjectStore): void {
  session.context.emit({
    type: 'warning',
    warning: 'unsafeForTwoWriters',
    message:
      `${store.address} does not honour conditional writes: when two machines push at the same moment, one commit can be lost ` +
      'from its branch. Let one machine at a time push there ("dray remote test" shows the details).',
  });
}
