/** When a window opens with a channel chosen, looks for updates: once a day, whichever window is the first. */
import { useEffect, useRef } from 'react';
import { formatBytes } from '../../engine/api/numbers.ts';
import { useAsk, useHost } from '../host/use-host.tsx';
import { useUpdateLook } from '../host/use-update-look.ts';
import { goTo } from '../route.ts';
import { showToast } from './toasts.tsx';

export function LookForUpdates() {
  const host = useHost();
  const { data: settings } = useAsk('settings.get', {}, { freshMs: 60_000 });
  const { refetch } = useUpdateLook(settings?.updates);
  const isOpening = useRef(true);
  useEffect(() => {
    if (!settings || !isOpening.current) return;
    // What is chosen from now on is looked for by hand, or when a window opens again.
    isOpening.current = false;
    if (settings.updates.channel === 'off') return;
    const look = async (): Promise<void> => {
      const { isDue } = await host.ask('updates.claimDaily', {});
      if (!isDue) return;
      const { data, error } = await refetch();
      const action = { label: 'Settings', onPress: () => goTo('settings') };
      if (error)
        showToast({ tone: 'info', title: 'Updates cannot be looked for', text: error.message, action });
      else if (data?.newer)
        showToast({
          tone: 'info',
          title: `Dray ${data.newer.version} is there`,
          text: `${formatBytes(data.newer.sizeBytes)}. Nothing is installed by itself.`,
          action,
        });
    };
    // The engine that went away while it was asked is told of elsewhere.
    look().catch(() => {});
  }, [settings, host, refetch]);
  return null;
}
