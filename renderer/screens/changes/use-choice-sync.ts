/**
 * Sends each choice to the engine, which keeps it, and shows it at once. The engine counts versions: if an
 * answer's is not one more than the last, another window has chosen too, and the choices are read anew.
 */
import { useMemo } from 'react';
import {
  type Choices,
  decide,
  decideAll,
  readChoices,
  tickOf,
  toggleSkip,
} from '../../../engine/api/host/change-choices.ts';
import type { ChangeRow, Winner } from '../../../engine/api/host/changes.ts';
import type { InputOf } from '../../../engine/api/host.ts';
import { useHost } from '../../host/use-host.tsx';
import { showFailure } from '../../shell/toasts.tsx';

export type ChosenStep =
  | { readonly do: 'toggle'; readonly row: ChangeRow }
  | { readonly do: 'decide'; readonly path: string; readonly winner: Winner }
  | { readonly do: 'decideAll'; readonly winner: Winner };

export interface ChoiceSync {
  /** The choices shown are those of this list at this version. */
  readonly adopt: (list: string, version: number) => void;
  readonly choose: (before: Choices, step: ChosenStep) => void;
  readonly reload: () => void;
  readonly version: () => number;
}

export function useChoiceSync(
  root: string,
  direction: 'push' | 'pull',
  onChoices: (choices: Choices) => void,
): ChoiceSync {
  const host = useHost();
  return useMemo(() => {
    let shownList = '';
    let shownVersion = 0;
    const reload = () => {
      const asked = host.ask('changes.choices', { root, direction });
      asked.then(
        ({ version, ...record }) => {
          shownVersion = version;
          onChoices(readChoices(record));
        },
        () => {},
      );
    };
    return {
      adopt: (list, version) => {
        shownList = list;
        shownVersion = version;
      },
      choose: (before, step) => {
        const after = choicesAfter(before, step);
        if (after === before) return;
        onChoices(after);
        shownVersion += 1;
        const expected = shownVersion;
        const input = { root, direction, list: shownList, ...inputOf(before, step) };
        host.ask('changes.choose', input).then(
          ({ version }) => {
            if (version !== expected) reload();
          },
          (error: unknown) => {
            showFailure('The choice was not kept', error);
            reload();
          },
        );
      },
      reload,
      version: () => shownVersion,
    };
  }, [host, root, direction, onChoices]);
}

function choicesAfter(before: Choices, step: ChosenStep): Choices {
  switch (step.do) {
    case 'toggle':
      return toggleSkip(before, step.row);
    case 'decide':
      return decide(before, step.path, step.winner);
    case 'decideAll':
      return decideAll(before, step.winner);
  }
}

function inputOf(
  before: Choices,
  step: ChosenStep,
): Pick<InputOf<'changes.choose'>, 'decide' | 'forAll' | 'include' | 'skip'> {
  switch (step.do) {
    case 'toggle': {
      const { path } = step.row;
      return tickOf(before, step.row) === 'all' ? { skip: [path] } : { include: [path] };
    }
    case 'decide':
      return { decide: [[step.path, step.winner]] };
    case 'decideAll':
      return { forAll: step.winner };
  }
}
