/** The page may do what its own files and the engine's port allow, and nothing of what Chromium offers beyond: all is denied. */
import type { Session } from 'electron';
import { isOwnUrl } from './own-origin.ts';

/** Schemes that bring nothing from outside; `devtools:` is there in a build for development alone. */
const HARMLESS = /^(?:blob|data|devtools):/;

export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, callback) => callback(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.on('will-download', (event) => event.preventDefault());
  // The policy of the page says the same; this one holds also where a page has no policy.
  session.webRequest.onBeforeRequest(({ url }, callback) =>
    callback({ cancel: !isOwnUrl(url) && !HARMLESS.test(url) }),
  );
}
