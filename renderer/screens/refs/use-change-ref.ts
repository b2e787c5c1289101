/** Changes branches and tags, and offers to undo each change. */

import type { RefRow } from '../../../engine/api/host/history.ts';
import type { HostRequestName } from '../../../engine/api/host.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';
import { useHost, useRefresh } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';

const CHANGED: readonly HostRequestName[] = ['history.list', 'home.list', 'changes.status'];

type Name = Pick<RefRow, 'kind' | 'name'>;

export interface ChangeRef {
  /** Each fails with the engine's error, for the dialog to show. */
  readonly make: (ref: Name, commit: string) => Promise<void>;
  readonly rename: (ref: RefRow, to: string) => Promise<void>;
  readonly move: (ref: RefRow, to: string) => Promise<void>;
  readonly remove: (ref: RefRow) => Promise<void>;
}

export function useChangeRef(root: string): ChangeRef {
  const host = useHost();
  const refresh = useRefresh();
  const settle = () => refresh(...CHANGED);
  const say = (title: string, undo: () => Promise<unknown>) => {
    const onPress = () => {
      const failed = (error: unknown) => showFailure('It was not undone', error);
      undo().then(settle).catch(failed);
    };
    showToast({ tone: 'success', title, action: { label: 'Undo', onPress } });
    return settle();
  };
  return {
    make: async ({ kind, name }, commit) => {
      const made = await host.ask('history.placeRef', { root, kind, name, commit });
      const at = made.commit;
      if (at === undefined) return settle();
      await say(`Created the ${kind} ${name} at ${formatHash(at)}`, () =>
        host.ask('history.removeRef', { root, kind, name, at }),
      );
    },
    rename: async ({ commit: at, kind, name }, to) => {
      await host.ask('history.renameRef', { root, kind, name, to, at });
      await say(`The ${kind} ${name} is now ${to}`, () =>
        host.ask('history.renameRef', { root, kind, name: to, to: name, at }),
      );
    },
    move: async ({ commit, kind, name }, to) => {
      const moved = await host.ask('history.placeRef', { root, kind, name, commit: to, at: commit });
      const at = moved.commit;
      if (at === undefined) return settle();
      await say(`The ${kind} ${name} is at ${formatHash(at)} now`, () =>
        host.ask('history.placeRef', { root, kind, name, commit, at }),
      );
    },
    remove: async ({ commit, kind, name }) => {
      await host.ask('history.removeRef', { root, kind, name, at: commit });
      await say(`The ${kind} ${name} was deleted`, () =>
        host.ask('history.placeRef', { root, kind, name, commit }),
      );
    },
  };
}
