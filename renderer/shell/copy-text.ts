import { showFailure, showToast } from './toasts/toasts.tsx';

/** @param what The subject of the message, such as `the hash`. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ tone: 'success', title: `Copied ${what}` });
  } catch (error) {
    showFailure(`Could not copy ${what}`, error);
  }
}
