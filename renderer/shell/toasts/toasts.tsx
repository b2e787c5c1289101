/** Short messages that come and go. A failure stays until it is closed. */
import './toasts.css';
import { type RefCallback, useCallback } from 'react';
import {
  UNSTABLE_Toast as AriaToast,
  Text,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { CommandDetail } from '../../failures/command-detail.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { failureWords } from '../../failures/failure-words.ts';
import { Remedy } from '../../failures/remedy.tsx';

export interface Toast {
  readonly tone: 'success' | 'info' | 'danger';
  readonly title: string;
  readonly text?: string;
  readonly error?: Failed;
  readonly action?: { readonly label: string; readonly onPress: () => void };
  /** Called when the toast closes without its action. */
  readonly onGone?: () => void;
}

const TOASTS_MAX = 4;
/** At least as long as the kit recommends, for slow readers. */
const SHOWN_MS = 6_000;
/** Long enough to read on, think and tab to the button. The pointer or the focus on it stops the clock. */
const WITH_ACTION_SHOWN_MS = 30_000;

const queue = new ToastQueue<Toast>({ maxVisibleToasts: TOASTS_MAX });

export function showToast(toast: Toast): void {
  const timeout = toast.action ? WITH_ACTION_SHOWN_MS : SHOWN_MS;
  let isTaken = false;
  const { action } = toast;
  const taking = action && {
    ...action,
    onPress: () => {
      isTaken = true;
      action.onPress();
    },
  };
  queue.add(
    { ...toast, ...(taking ? { action: taking } : {}) },
    {
      ...(toast.tone === 'danger' ? {} : { timeout }),
      onClose: () => {
        if (!isTaken) toast.onGone?.();
      },
    },
  );
}

/** For `catch`: what failed, with the error's own message. */
export function showFailure(title: string, error: unknown): void {
  const failed = toFailed(error);
  showToast({ tone: 'danger', title, text: failureWords(failed), error: failed });
}

/** The screen and its dialogs end above the toasts, so no toast covers a button. */
function useRoom(): RefCallback<HTMLElement> {
  return useCallback((region) => {
    const { style } = document.documentElement;
    const leave = () => style.removeProperty('--toasts-room');
    if (!region) {
      leave();
      return;
    }
    const sizes = new ResizeObserver(() => {
      style.setProperty('--toasts-room', `${Math.ceil(innerHeight - region.getBoundingClientRect().top)}px`);
    });
    sizes.observe(region);
    return () => {
      sizes.disconnect();
      leave();
    };
  }, []);
}

export function Toasts() {
  const room = useRoom();
  return (
    <ToastRegion ref={room} queue={queue} className="toasts" aria-label="Messages">
      {({ toast }) => (
        <AriaToast toast={toast} className={`toast toast-${toast.content.tone}`}>
          <Icon
            name={
              toast.content.tone === 'danger' ? 'warning' : toast.content.tone === 'info' ? 'info' : 'check'
            }
          />
          <ToastContent className="grow">
            <Text slot="title" className="toast-title">
              {toast.content.title}
            </Text>
            {toast.content.text !== undefined && (
              <Text slot="description" className="toast-text">
                {toast.content.text}
              </Text>
            )}
            {toast.content.error && <CommandDetail error={toast.content.error} />}
          </ToastContent>
          {toast.content.error && (
            <Remedy size="small" error={toast.content.error} onMended={() => queue.close(toast.key)} />
          )}
          {toast.content.action && (
            <Button
              size="small"
              onPress={() => {
                toast.content.action?.onPress();
                queue.close(toast.key);
              }}
            >
              {toast.content.action.label}
            </Button>
          )}
          <IconButton icon="close" label="Close" size="small" onPress={() => queue.close(toast.key)} />
        </AriaToast>
      )}
    </ToastRegion>
  );
}
