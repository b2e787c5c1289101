/**
 * Lets the browser's own drag carry one file out to the desktop: on a drop there, Chromium downloads it
 * from an address that works once. Other browsers ignore the type.
 */
import { WINDOW_KEY_HEADER } from '../../../../engine/api/window/window-key.ts';
import { heldWindowKey } from '../../../host/window-key.ts';
import { nameOf } from '../places.ts';

const TYPE = 'DownloadURL';

/** Must be called during the event of the drag's start. The desktop app prepares files instead. */
export function offerFile(data: DataTransfer, place: string, path: string): void {
  if (window.dray) return;
  const token = newToken();
  const name = nameOf(path);
  const address = `${location.origin}/dragged/${token}/${encodeURIComponent(name.toWellFormed())}`;
  // Chromium ends the name at a colon.
  data.setData(TYPE, `application/octet-stream:${name.replaceAll(':', '_')}:${address}`);
  // The server knows the file long before it can be dropped. A failure here is one of the download.
  fetch(`/drag?${new URLSearchParams({ token, place })}`, {
    method: 'POST',
    headers: { [WINDOW_KEY_HEADER]: heldWindowKey() ?? '' },
  }).catch(() => {});
}

/** 32 random bytes in base64url. */
function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes)).replace(
    /[+/=]/g,
    (given) => ({ '+': '-', '/': '_' })[given] ?? '',
  );
}
