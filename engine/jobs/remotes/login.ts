/**
 * The user's stored peers: `dray login` and `dray logout` save and remove a token; the window also trusts a
 * certificate.
 */
import { DrayError, excerpt } from '../../api/error.ts';
import type { JobContext, MetPeer } from '../../api/jobs/jobs.ts';
import type { KnownPeer, LoginRequest, LoginSummary } from '../../api/jobs/peers.ts';
import { readKnownPeers, rememberPeer } from '../../remotes/peer/known-peers.ts';
import {
  addressesWithToken,
  addressOfEnvironment,
  checkToken,
  keepToken,
} from '../../remotes/peer/peer-tokens.ts';
import { hostAndPort, parsePeerAddress, peerAddress } from '../../remotes/remote-url.ts';
import { changingSettings, userConfigFolder } from '../session/user-remotes.ts';

/** @throws DrayError `usage` when it does not name a peer */
export function loginAddress(peer: string): string {
  return peerAddress(parsePeerAddress(peer));
}

/** @throws DrayError `usage`, `io` */
export async function login(
  context: Pick<JobContext, 'environment'>,
  { peer, token }: LoginRequest,
): Promise<LoginSummary> {
  const address = loginAddress(peer);
  const kept = checkToken(token, 'This');
  await changingSettings(context, () => keepToken(userConfigFolder(context), address, kept));
  return { address };
}

/** The environment for one job with a token that was typed and not saved. @throws DrayError `usage` */
export function withTypedToken(
  environment: JobContext['environment'],
  { peer, token }: LoginRequest,
): JobContext['environment'] {
  return {
    ...environment,
    DRAY_TOKEN: checkToken(token, 'The typed token'),
    DRAY_TOKEN_HOST: loginAddress(peer),
  };
}

/** @throws DrayError `notFound` when no token is stored, `usage`, `io` */
export async function logout(
  context: Pick<JobContext, 'environment'>,
  { peer }: Pick<LoginRequest, 'peer'>,
): Promise<LoginSummary> {
  const address = loginAddress(peer);
  const wasKept = await changingSettings(context, () =>
    keepToken(userConfigFolder(context), address, undefined),
  );
  if (wasKept) return { address };
  throw new DrayError('notFound', `No token is stored for ${address}.`, { data: { address } });
}

/** @returns Each peer that has a token or is trusted, by address. @throws DrayError `usage`, `io` */
export function listPeers(context: Pick<JobContext, 'environment'>): readonly KnownPeer[] {
  const folder = userConfigFolder(context);
  const peers = new Map<string, KnownPeer>();
  const add = (address: string, more: Omit<KnownPeer, 'address'>) =>
    peers.set(address, { ...peers.get(address), ...more, address });
  for (const [address, fingerprint] of Object.entries(readKnownPeers(folder)))
    add(`dray://${address}`, { fingerprint });
  for (const address of addressesWithToken(folder)) add(address, { token: 'kept' });
  const { DRAY_TOKEN, DRAY_TOKEN_FILE } = context.environment;
  const given = addressOfEnvironment(context.environment);
  if (given !== undefined && (DRAY_TOKEN || DRAY_TOKEN_FILE)) add(given, { token: 'environment' });
  return [...peers.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
}

/**
 * Call after a person has compared the fingerprint.
 * @throws DrayError `accessDenied` when another is stored, `usage`, `io`
 */
export async function trustPeer(context: Pick<JobContext, 'environment'>, peer: MetPeer): Promise<void> {
  if (hostAndPort(parsePeerAddress(peer.address)) !== peer.address)
    throw new DrayError(
      'usage',
      `"${excerpt(peer.address)}" is not a host and port: write it like nas:7370.`,
    );
  await changingSettings(context, () => rememberPeer(userConfigFolder(context), peer));
}
