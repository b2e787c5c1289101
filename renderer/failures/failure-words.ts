/**
 * The window's text for an error, by its code and data, and the screen that can fix it. The engine's message
 * ends with advice for a command line, which the window shows only as a detail.
 */
import { type ErrorCode, messageWithoutAdvice } from '../../engine/api/error.ts';
import { missingKeysOf, missingPasswordOf, missingSecretOf } from '../../engine/api/text/missing-keys.ts';
import { formatCount } from '../../engine/api/text/numbers.ts';
import type { ScreenName } from '../route.ts';
import type { Failed } from './failed.ts';
import { foreignFolderOf, ownerWords } from './foreign-folder.ts';
import { peerNeedOf } from './peer-need.ts';

export interface Advice {
  readonly text: string;
  /** The screen that can fix it. */
  readonly go?: { readonly screen: ScreenName; readonly label: string };
}

/** One or two sentences with the failure and its cause. `FailureText` shows a fingerprint. */
export function failureWords(error: Failed): string {
  const profile = missingKeysOf(error);
  if (profile !== undefined) return keysWords(profile, error);
  const locked = missingPasswordOf(error);
  if (locked) return lockedWords(locked.address, error);
  return peerWords(error) ?? ownWords(error) ?? messageWithoutAdvice(error);
}

/** The advice for a command line, with its command if it has one. */
export function commandDetail({ data = {} }: Failed): { advice: string; command?: string } | undefined {
  const { advice, command } = data;
  if (typeof advice !== 'string' || advice === '') return undefined;
  return { advice, ...(typeof command === 'string' ? { command } : {}) };
}

function lockedWords(address: string, error: Failed): string {
  const locked = `The repository at ${address} is encrypted, and is locked here.`;
  return error.data?.reason === 'passwordSource' ? `${messageWithoutAdvice(error)} ${locked}` : locked;
}

function peerWords(error: Failed): string | undefined {
  const need = peerNeedOf(error);
  if (!need) return undefined;
  if (need.needs === 'trust') return `This computer does not know ${need.host} yet, so nothing was sent.`;
  const found = need.isRefused
    ? `${need.host} refused the token.`
    : `This computer has no token for ${need.host}, so nothing was sent.`;
  return `${found} The person who serves it there has the token: it was shown when the server started.`;
}

function keysWords(profile: string, { data = {} }: Failed): string {
  if (profile !== 'default')
    return `The keys of “${profile}” are not here. Keys that were typed into a browser last until Dray's engine ends.`;
  const bucket = typeof data.bucket === 'string' ? ` for the bucket ${data.bucket}` : '';
  return `No keys were found${bucket}.`;
}

/** Replaces messages that do not say enough without their advice. */
function ownWords({ code, data = {} }: Failed): string | undefined {
  const { count, holder, paths, reason } = data;
  const folder = foreignFolderOf({ message: '', data });
  if (folder)
    return `This folder belongs to ${ownerWords(folder)}, and its settings could send your data and keys elsewhere. Dray opens it only once you trust it.`;
  switch (`${code}.${reason}`) {
    case 'io.openFiles':
      return 'Too many files are open on this computer. Close other programs, then try again.';
  }
  if (code === 'manyEmptied' && Array.isArray(paths) && typeof count === 'number')
    return `${formatCount(count)} files have become empty since the last push or pull, such as ${paths[0]}. Nothing was sent.`;
  if (code === 'locked' && typeof holder === 'object' && holder !== null && 'pid' in holder)
    return `Another Dray (process ${holder.pid}) is working there.`;
  return undefined;
}

const AT_REMOTES = { screen: 'remotes', label: 'Test the remote' } as const;
const AT_CHANGES = { screen: 'changes', label: 'Open Changes' } as const;

const ADVICE: Readonly<Partial<Record<ErrorCode, Advice>>> = {
  noCredentials: { text: 'Test the remote to see what is missing.', go: AT_REMOTES },
  accessDenied: { text: 'Test the remote to see which right is missing.', go: AT_REMOTES },
  bucketMissing: {
    text: 'Check the address of the remote.',
    go: { screen: 'remotes', label: 'Open Remotes' },
  },
  notARepository: {
    text: 'The first push makes one. If one should be there, check the address of the remote.',
    go: { screen: 'remotes', label: 'Open Remotes' },
  },
  conflict: { text: 'Choose which version of each file stays.', go: AT_CHANGES },
  unreachable: { text: 'Files that have arrived stay. Try again when the remote can be reached.' },
  remoteFailed: { text: 'Files that have arrived stay. Try again when the remote answers.' },
  slowDown: { text: 'Files that have arrived stay. Try again in a while.' },
  clockSkew: { text: 'Set the clock of this computer, then try again.' },
  diskFull: { text: 'Free some space, then try again. Files that have arrived stay.' },
  partial: {
    text: 'The details name the files and the causes. Mend them, then Retry moves only those files.',
  },
  locked: { text: 'Try again when it has ended.' },
  checksumRefused: { text: 'A file changed while it was read. Retry sends it again.' },
  manyEmptied: { text: 'Restore these files, leave them out, or push them as they are.', go: AT_CHANGES },
  tooManyDeletes: {
    text: 'Read the preview of the sync before you continue.',
    go: { screen: 'browse', label: 'Open Browse' },
  },
  damaged: { text: 'A verification names every file that it affects.' },
  notAWorkspace: { text: 'Set one up on Home.', go: { screen: 'home', label: 'Open Home' } },
  workspaceExists: { text: 'Open it, or choose another folder.', go: { screen: 'home', label: 'Open Home' } },
};

const REPLACED =
  'Nothing was changed. If this was meant, the details name the command that takes what the branch has now.';

/** By code and reason, where a code has several causes. */
const ADVICE_BY_REASON: Readonly<Record<string, Advice>> = {
  'conflict.halfArrived': { text: 'Pull again to get the rest, then push.', go: AT_CHANGES },
  'conflict.switch': {
    text: 'Push what changed here, or restore the last version of these files. Then switch again.',
    go: AT_CHANGES,
  },
  'conflict.wouldLose': { text: 'Restore again, and confirm there that these changes may be replaced.' },
  'conflict.refMoved': { text: '' },
  'conflict.jobChanged': { text: 'Open its current version, then change it again.' },
  'conflict.ownerChanged': { text: '' },
  'conflict.refExists': { text: 'Choose another name.' },
  'usage.notEmpty': { text: 'Choose another folder, or an empty one.' },
  'usage.noRemote': { text: 'Add it, or choose another.', go: { screen: 'remotes', label: 'Open Remotes' } },
  'damaged.refGone': { text: 'Nothing was changed. The details name the command that makes it again.' },
  'damaged.rolledBack': { text: REPLACED },
  'damaged.historyReplaced': { text: REPLACED },
  'damaged.historyUnknown': { text: REPLACED },
  'damaged.verified': { text: 'The details name the files.' },
  'damaged.notRepaired': { text: 'Another workspace may still have the files: repair from there too.' },
  'unsupported.notUpgraded': { text: 'Update Dray everywhere, then upgrade the repository.' },
  'notFound.noMain': { text: 'Choose one of them.' },
};

/** The next step in the window. */
export function adviceFor(error: Failed): Advice {
  // The button beside the error names the next step.
  if (peerNeedOf(error) || missingSecretOf(error)) return { text: '' };
  const { code, data = {} } = error;
  if (code === undefined) return { text: '' };
  return ADVICE_BY_REASON[`${code}.${data.reason}`] ?? ADVICE[code] ?? { text: '' };
}
