/** The part of the dataset that the session's workspace holds. */
import { compileScope, type Scope } from '../../model/scope.ts';
import type { Session } from './open-workspace.ts';

const compiled = new WeakMap<readonly string[], Scope>();

/** Undefined: all of it. */
export function scopeOf({ state }: Pick<Session, 'state'>): Scope | undefined {
  const patterns = state.scope?.only;
  if (!patterns) return undefined;
  const scope = compiled.get(patterns) ?? compileScope(patterns);
  compiled.set(patterns, scope);
  return scope;
}
