/**
 * Warns during a push of names that are one on macOS or Windows, because the pusher can still rename them.
 */
import { collisionFinder } from '../../model/name-collisions.ts';
import type { Session } from '../session/open-workspace.ts';

const NAMED_MAX = 20;

export function warnOfCollisions(session: Session): void {
  const finder = collisionFinder();
  let count = 0;
  for (const page of session.index.files.workingPaths()) {
    for (const path of page) {
      for (const collision of finder.add(path)) {
        count += 1;
        if (count > NAMED_MAX) continue;
        session.context.emit({
          type: 'warning',
          warning: 'nameCollision',
          path: collision.path,
          message: `${collision.path} and ${collision.other} are the same name where case or Unicode form does not count (macOS, Windows). A clone there cannot hold both; rename one of them.`,
        });
      }
    }
  }
  if (count <= NAMED_MAX) return;
  const message = `${count - NAMED_MAX} more names collide in the same way.`;
  session.context.emit({ type: 'warning', warning: 'nameCollision', message });
}
