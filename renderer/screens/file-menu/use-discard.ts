/** Discards local changes, and offers Undo for the files that were moved to the bin. */
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { announceFolderChange } from '../../host/folder-news.ts';
import { useHost, useRefresh } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';
import { usePutBack } from '../../shell/use-put-back.ts';

export type Discarded = Pick<ChangeRow, 'path' | 'fromPath'> & Partial<Pick<ChangeRow, 'change'>>;

export function useDiscard(): (root: string, row: Discarded) => Promise<void> {
  const host = useHost();
  const refresh = useRefresh();
  const { putBack } = usePutBack();
  return async (root, { change, fromPath, path }) => {
    const paths = fromPath === undefined ? [path] : [path, fromPath];
    try {
      const { failed, kept, renamed, transfer } = await host.ask('changes.discard', { root, paths });
      announceFolderChange(root);
      void refresh('browse.open');
      if (kept)
        showToast({
          tone: 'info',
          title:
            kept.files > 0
              ? `${formatPlural(kept.files, 'new file')} moved to Kept files`
              : `${formatPlural(renamed, 'file')} renamed back`,
          text:
            kept.files === 0
              ? `${fromPath ?? path} is as the last commit has it.`
              : `Kept for 30 days: see Kept files in Changes.${renamed > 0 ? ` ${formatPlural(renamed, 'file')} renamed back.` : ''}`,
          action: { label: 'Undo', onPress: () => void putBack(root, kept.id) },
        });
      // At its end, another toast offers Undo for the files that it overwrote.
      if (transfer !== undefined)
        showToast({
          tone: 'info',
          title: change === 'deleted' ? `Restoring ${path}` : `Discarding the change of ${path}`,
          text: 'See Transfers.',
        });
      if (!kept && transfer === undefined && failed === 0)
        showToast({
          tone: 'info',
          title: `${path} has no change to discard`,
          text: 'It equals the last commit, or it is ignored.',
        });
      if (failed > 0)
        showToast({ tone: 'danger', title: `${formatPlural(failed, 'new file')} could not be moved` });
    } catch (error) {
      showFailure('The change was not discarded', error);
    }
  };
}
