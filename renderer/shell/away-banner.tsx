import './away-banner.css';
import { useEffect, useRef } from 'react';
import { Button } from '../design/controls/button.tsx';
import { Icon } from '../design/icon.tsx';
import { useHost, useHostState } from '../host/use-host.tsx';
import { goTo } from '../route.ts';
import { showToast } from './toasts/toasts.tsx';

const WORDS = {
  away: "Dray's engine does not answer. What you see may be out of date. Dray keeps trying to reach it.",
  refused:
    'Dray was restarted, or this tab was not opened by a link. Open the link that it printed in its terminal in this browser (Enter there prints a new one). This window then continues.',
} as const;

/**
 * Shown while the engine does not answer; the screen stays readable. Its return is announced too, because it
 * may come at once.
 */
export function AwayBanner() {
  const host = useHost();
  const state = useHostState();
  const wasAway = useRef(false);
  useEffect(() => {
    if (state === 'away' || state === 'refused') wasAway.current = true;
    if (state !== 'open' || !wasAway.current) return;
    wasAway.current = false;
    showToast({
      tone: 'info',
      title: "Dray's engine is back",
      text: 'The window is up to date again. Transfers continue, even if the engine had ended.',
      action: { label: 'Open Transfers', onPress: () => goTo('transfers') },
    });
  }, [state]);
  const words = state === 'away' || state === 'refused' ? WORDS[state] : undefined;
  return (
    <div role="status" className={words ? 'away' : 'unseen'}>
      {words && (
        <>
          <Icon name="warning" />
          <span className="grow">{words}</span>
          <Button size="small" onPress={host.retry}>
            Try now
          </Button>
        </>
      )}
    </div>
  );
}
