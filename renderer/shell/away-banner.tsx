import './away-banner.css';
import { useEffect, useRef } from 'react';
import { Button } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { useHost, useLineState } from '../host/use-host.tsx';
import { goTo } from '../route.ts';
import { showToast } from './toasts.tsx';

const WORDS = {
  away: "Dray's engine is away. What you see may be old; it is looked for again and again.",
  refused:
    'Dray was started anew, or this tab was not opened by a link. Open the link that "dray ui" printed in this browser (Enter there prints a new one): this window then goes on.',
} as const;

/** Shown while the engine is not there; what is on the screen stays readable. That it is back is said too, since it may be so at once. */
export function AwayBanner() {
  const host = useHost();
  const state = useLineState();
  const wasAway = useRef(false);
  useEffect(() => {
    if (state === 'away' || state === 'refused') wasAway.current = true;
    if (state !== 'open' || !wasAway.current) return;
    wasAway.current = false;
    showToast({
      tone: 'info',
      title: "Dray's engine is back",
      text: 'What you see is up to date again. If it had ended, what it moved stands paused in Transfers.',
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
