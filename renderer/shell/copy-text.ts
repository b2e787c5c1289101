import { showFailure, showToast } from './toasts.tsx';

/** @param what Names it in the message: `the hash`. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ tone: 'success', title: `Copied ${what}` });
  } catch (error) {
    showFailure(`The system did not take ${what}`, error);
  }
}
