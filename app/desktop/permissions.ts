/** The page may use its own files and the engine's port. Everything else that Chromium offers is denied. */
import type { Session } from 'electron';
import { isOwnUrl } from './own-origin.ts';

/** Schemes that load nothing from outside. `devtools:` exists only in a development build. */
const HARMLESS = /^(?:blob|data|devtools):/;

export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, callback) => callback(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.on('will-download', (event) => event.preventDefault());
  // The page's policy says the same; this rule also holds for a page without a policy.
  session.webRequest.onBeforeRequest(({ url }, callback) =>
    callback({ cancel: !isOwnUrl(url) && !HARMLESS.test(url) }),
  );
}
