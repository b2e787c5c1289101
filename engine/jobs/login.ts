/** `dray login` and `dray logout`: the token of one peer, kept for this user. */
import { DrayError } from '../api/error.ts';
import type { JobContext } from '../api/jobs.ts';
import type { LoginRequest, LoginSummary } from '../api/peers.ts';
import { keepToken } from '../remotes/peer/peer-tokens.ts';
import { parsePeerAddress, peerAddress } from '../remotes/remote-url.ts';
import { userConfigFolder } from './user-remotes.ts';

/** What a header can carry. */
const TOKEN = /^[\x21-\x7e]{1,1024}$/;

/** @throws DrayError `usage` when it names no peer. */
export function loginAddress(peer: string): string {
  return peerAddress(parsePeerAddress(peer));
}

/** @throws DrayError `usage`, `io` */
export async function login(
  context: Pick<JobContext, 'environment'>,
  { peer, token }: LoginRequest,
): Promise<LoginSummary> {
  const address = loginAddress(peer);
  if (!TOKEN.test(token))
    throw new DrayError(
      'usage',
      'This is no token: it has 1 to 1,024 letters, digits and signs, and no spaces. "dray serve" shows it when it starts.',
    );
  keepToken(userConfigFolder(context), address, token);
  return { address };
}

/** @throws DrayError `notFound` when there is none, `usage`, `io` */
export async function logout(
  context: Pick<JobContext, 'environment'>,
  { peer }: Pick<LoginRequest, 'peer'>,
): Promise<LoginSummary> {
  const address = loginAddress(peer);
  if (keepToken(userConfigFolder(context), address, undefined)) return { address };
  throw new DrayError('notFound', `No token is kept for ${address}.`, { data: { address } });
}
