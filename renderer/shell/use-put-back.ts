/** Moves files of the bin back to their paths, also after the component that offered it has unmounted. */
import { useState } from 'react';
import { formatPlural } from '../../engine/api/text/numbers.ts';
import { announceFolderChange } from '../host/folder-news.ts';
import { useHost, useRefresh } from '../host/use-host.tsx';
import { showFailure, showToast } from './toasts/toasts.tsx';

export interface PutBack {
  readonly isPending: boolean;
  /** Resolves to false after an error, which a toast reports. */
  readonly putBack: (root: string, id: string) => Promise<boolean>;
}

export function usePutBack(): PutBack {
  const host = useHost();
  const refresh = useRefresh();
  const [isPending, setPending] = useState(false);
  const putBack = async (root: string, id: string): Promise<boolean> => {
    setPending(true);
    try {
      const { restored } = await host.ask('kept.putBack', { root, id });
      announceFolderChange(root);
      showToast({ tone: 'success', title: `Put back ${formatPlural(restored, 'file')}` });
      return true;
    } catch (error) {
      showFailure('The files were not put back', error);
      return false;
    } finally {
      setPending(false);
      void refresh('kept.list', 'browse.open');
    }
  };
  return { isPending, putBack };
}
