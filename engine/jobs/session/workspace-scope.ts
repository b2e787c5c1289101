/** What the session's workspace holds of the dataset. */
import { compileScope, type Scope } from '../../model/scope.ts';
import type { Session } from './open-workspace.ts';

const compiled = new WeakMap<readonly string[], Scope>();
const without = new WeakMap<object, { readonly part: Scope | undefined; readonly scope: Scope }>();

/**
 * The part that its patterns name, without the entries that its file system cannot hold. Undefined: all of
 * the dataset.
 */
export function scopeOf(session: Pick<Session, 'state'>): Scope | undefined {
  const { unheld } = session.state;
  const part = partOf(session);
  if (!unheld) return part;
  const known = without.get(unheld);
  if (known?.part === part && known) return known.scope;
  const scope = withoutUnheld(part, Object.keys(unheld));
  without.set(unheld, { part, scope });
  return scope;
}

/** The part that its patterns name. Undefined: all of the dataset. */
export function partOf({ state }: Pick<Session, 'state'>): Scope | undefined {
  const patterns = state.scope?.only;
  if (!patterns) return undefined;
  const scope = compiled.get(patterns) ?? compileScope(patterns);
  compiled.set(patterns, scope);
  return scope;
}

/** A folder above such an entry is never empty, whatever is in it here. */
function withoutUnheld(part: Scope | undefined, unheld: readonly string[]): Scope {
  const missing = new Set<string>();
  for (const path of unheld) {
    missing.add(path);
    if (!path.endsWith('/')) missing.add(`${path}/`);
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
      missing.add(path.slice(0, at + 1));
  }
  const isHere = (path: string) => !missing.has(path);
  return {
    patterns: part?.patterns ?? [],
    holds: (path) => isHere(path) && (part?.holds(path) ?? true),
    names: (path) => isHere(path) && (part?.names(path) ?? true),
    reachesInto: (folder) => part?.reachesInto(folder) ?? true,
    reachesBetween: (first, last) => part?.reachesBetween(first, last) ?? true,
  };
}
