/** Hands a link to the user's browser, and removes the file that led to it. */
import { toDrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { findLinkFolder, type LinkFile, writeLinkFile } from './link-file.ts';
import { openBrowser, openerOf } from './open-browser.ts';

export interface StartedBrowser {
  readonly link: string;
  /** Removes the file after the link was used or became void. */
  readonly forget: () => void;
}

export interface StartBrowserOptions extends Pick<JobContext, 'environment' | 'signal'> {
  readonly onFailure: (message: string) => void;
}

/** @param link For this browser only. The printed link still works for another browser. */
export function startBrowser(
  link: string,
  { environment, onFailure, signal }: StartBrowserOptions,
): StartedBrowser {
  let file: LinkFile | undefined;
  let isForgotten = false;
  const open = async () => {
    if (process.platform === 'win32') return openBrowser(openerOf(link), environment);
    const folder = await findLinkFolder(environment);
    if (isForgotten) return true;
    file = writeLinkFile(link, folder);
    return openBrowser(openerOf(file.path), environment);
  };
  open().then(
    (isOpened) => {
      if (!isOpened && !signal.aborted)
        onFailure('No browser could be started here. Open the link yourself.');
    },
    (error: unknown) => onFailure(`No browser could be started: ${toDrayError(error).message}`),
  );
  return {
    link,
    forget: () => {
      isForgotten = true;
      file?.[Symbol.dispose]();
    },
  };
}
