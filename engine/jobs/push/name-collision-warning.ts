/** Names that are two here and one on a Mac or on Windows: a push warns of them, because it is where they can be mended. */
import { collisionFinder } from '../../model/name-collisions.ts';
import type { Session } from '../session/session.ts';

const TOLD_MAX = 20;

export function warnOfCollisions(session: Session): void {
  const finder = collisionFinder();
  let count = 0;
  for (const page of session.index.files.workingPaths()) {
    for (const path of page) {
      for (const collision of finder.add(path)) {
        count += 1;
        if (count > TOLD_MAX) continue;
        session.context.emit({
          type: 'warning',
          warning: 'nameCollision',
          path: collision.path,
          message: `${collision.path} and ${collision.other} are one name where case or Unicode form does not count (macOS, Windows): they cannot both be cloned there.`,
        });
      }
    }
  }
  if (count <= TOLD_MAX) return;
  const message = `${count - TOLD_MAX} more names collide in the same way.`;
  session.context.emit({ type: 'warning', warning: 'nameCollision', message });
}
