/** The actions of a saved job. The list updates itself. */
import { useMemo } from 'react';
import { useHost } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';

export interface JobActions {
  run(name: string): Promise<void>;
  stop(name: string): Promise<void>;
  pause(name: string, isPaused: boolean): Promise<void>;
  remove(name: string): Promise<void>;
}

export function useJobActions(): JobActions {
  const host = useHost();
  return useMemo(() => {
    const attempt = async (failed: string, action: () => Promise<unknown>) => {
      try {
        await action();
      } catch (error) {
        showFailure(failed, error);
      }
    };
    return {
      run: (name) => attempt(`${name} did not start`, () => host.ask('saved.run', { name })),
      stop: (name) =>
        attempt(`${name} was not stopped`, async () => {
          const { isStopping } = await host.ask('saved.stop', { name });
          if (isStopping) return;
          const text = 'Another process started this run. Stop it there.';
          showToast({ tone: 'info', title: `${name} was not stopped`, text });
        }),
      pause: (name, isPaused) =>
        attempt(isPaused ? `${name} was not paused` : `${name} was not resumed`, () =>
          host.ask('saved.pause', { name, isPaused }),
        ),
      remove: (name) =>
        attempt(`${name} was not removed`, async () => {
          await host.ask('saved.remove', { name });
          // Its card goes, with the button that has the focus unless the person went elsewhere meanwhile.
          const card = document.querySelector(`[data-job="${CSS.escape(name)}"]`);
          const { activeElement, body } = document;
          if (activeElement === body || card?.contains(activeElement))
            document.getElementById('screen')?.focus();
        }),
    };
  }, [host]);
}
