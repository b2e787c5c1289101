/** The other machines that have a token or are trusted. Pages can set tokens and never read them. */
import { listPeers, login, logout, trustPeer } from '../jobs/remotes/login.ts';
import type { HandlersOf } from './port/host-call.ts';

export const PEERS: HandlersOf<'peers'> = {
  'peers.list': async (_input, { host }) => ({ peers: listPeers(host) }),
  'peers.login': (input, { host }) => login(host, input),
  'peers.logout': (input, { host }) => logout(host, input),
  'peers.trust': async (peer, { host }) => {
    await trustPeer(host, peer);
    return {};
  },
};
