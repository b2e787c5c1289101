import { useEffect } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import { useRefresh } from '../../host/use-host.tsx';

/** Somebody may forget a commit while it is shown. The list of commits then says so, and the panel too. */
export function useForgottenNews(error: unknown): void {
  const refresh = useRefresh();
  const isForgotten = error instanceof DrayError && error.code === 'forgotten';
  useEffect(() => {
    if (isForgotten) void refresh('history.list');
  }, [isForgotten, refresh]);
}
