/** Takes local changes back, and offers Undo for what went to the bin. */
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import { formatPlural } from '../../../engine/api/numbers.ts';
import { tellFolderChanged } from '../../host/folder-news.ts';
import { useHost } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts.tsx';
import { usePutBack } from '../../shell/use-put-back.ts';

export function useDiscard(): (root: string, row: ChangeRow) => Promise<void> {
  const host = useHost();
  const { putBack } = usePutBack();
  return async (root, { change, fromPath, path }) => {
    const paths = fromPath === undefined ? [path] : [path, fromPath];
    try {
      const { failed, kept, transfer } = await host.ask('changes.discard', { root, paths });
      tellFolderChanged(root);
      if (kept)
        showToast({
          tone: 'info',
          title: `${formatPlural(kept.files, 'new file')} moved to Kept files`,
          text: 'Kept for 30 days: see Kept files in Changes.',
          action: { label: 'Undo', onPress: () => void putBack(root, kept.id) },
        });
      // When it has ended, a message offers Undo for what it overwrote.
      if (transfer !== undefined)
        showToast({
          tone: 'info',
          title: change === 'deleted' ? `Bringing ${path} back` : `Discarding the change of ${path}`,
          text: 'See Transfers.',
        });
      if (failed > 0)
        showToast({ tone: 'danger', title: `${formatPlural(failed, 'new file')} could not be moved` });
    } catch (error) {
      showFailure('The change was not discarded', error);
    }
  };
}
