/**
 * Shows each choice at once, and sends it to the engine, which stores it. The engine counts versions. If it
 * names a later version than this window's own choices lead to, another window has changed the choices too,
 * and they are read again.
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
import type { ChangeRow, KeptChoices, Winner } from '../../../engine/api/host/changes.ts';
import type { InputOf } from '../../../engine/api/host.ts';
import { useHost } from '../../host/use-host.tsx';
import { showFailure } from '../../shell/toasts/toasts.tsx';

export type ChosenStep =
  | { readonly do: 'toggle'; readonly row: ChangeRow }
  | { readonly do: 'decide'; readonly path: string; readonly winner: Winner }
  | { readonly do: 'decideAll'; readonly winner: Winner };

export interface ChoiceSync {
  /** The list and the version of the shown choices. */
  readonly adopt: (list: string, version: number) => void;
  readonly choose: (before: Choices, step: ChosenStep) => void;
  /**
   * All choices, from a request that was just sent. Asks again if the person chooses meanwhile, because the
   * answer may be older than that choice.
   */
  readonly read: (
    asked: Promise<KeptChoices>,
    signal?: AbortSignal,
  ) => Promise<{ readonly choices: Choices; readonly version: number }>;
  /** Reads all choices again: once at a time, and once more if it is called meanwhile. */
  readonly reload: () => void;
  /** The engine's choices have this version. */
  readonly hear: (version: number) => void;
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
    let heardVersion = 0;
    let chosen = 0;
    let reloading: 'no' | 'once' | 'again' = 'no';
    const where = { root, direction };
    const read: ChoiceSync['read'] = async (asked, signal) => {
      for (let answer = asked; ; answer = host.ask('changes.choices', where, signal ? { signal } : {})) {
        const before = chosen;
        const found = await readPages(host, where, await answer, signal);
        if (chosen === before) return found;
      }
    };
    const reload = () => {
      if (reloading !== 'no') {
        reloading = 'again';
        return;
      }
      reloading = 'once';
      read(host.ask('changes.choices', where))
        .then(
          ({ choices, version }) => {
            shownVersion = version;
            onChoices(choices);
          },
          () => {},
        )
        .finally(() => {
          const isStale = reloading === 'again';
          reloading = 'no';
          if (isStale) reload();
        });
    };
    return {
      adopt: (list, version) => {
        shownList = list;
        shownVersion = version;
        if (heardVersion > version) reload();
      },
      hear: (version) => {
        heardVersion = version;
        // Before there is a list, its own request reads the choices.
        if (shownList !== '' && version > shownVersion) reload();
      },
      choose: (before, step) => {
        const after = choicesAfter(before, step);
        if (after === before) return;
        onChoices(after);
        chosen += 1;
        shownVersion += 1;
        const expected = shownVersion;
        const input = { ...where, list: shownList, ...inputOf(before, step) };
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
      read,
      reload,
      version: () => shownVersion,
    };
  }, [host, root, direction, onChoices]);
}

/**
 * Reads all choices in pages, because one large answer would block the page. Starts again if another window
 * changes them meanwhile.
 */
async function readPages(
  host: Pick<ReturnType<typeof useHost>, 'ask'>,
  where: { readonly root: string; readonly direction: 'push' | 'pull' },
  first: KeptChoices,
  signal?: AbortSignal,
): Promise<{ readonly choices: Choices; readonly version: number }> {
  const options = signal ? { signal } : {};
  for (let start = first; ; start = await host.ask('changes.choices', where, options)) {
    const { version } = start;
    const skipped = new Map(readChoices(start).skipped);
    const decided = new Map(start.decided);
    let page: KeptChoices = start;
    while (page.next !== undefined && page.version === version) {
      page = await host.ask('changes.choices', { ...where, offset: page.next }, options);
      const more = readChoices(page);
      for (const [path, one] of more.skipped) skipped.set(path, one);
      for (const [path, winner] of more.decided) decided.set(path, winner);
    }
    if (page.version === version) return { version, choices: { skipped, decided, forAll: start.forAll } };
  }
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
