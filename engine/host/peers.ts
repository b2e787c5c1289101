/** Other machines: which of them have a token or are trusted. A token goes in and never comes back. */
import { listPeers, login, logout, trustPeer } from '../jobs/login.ts';
import type { HandlersOf } from './host-call.ts';

export const PEERS: HandlersOf<'peers'> = {
  'peers.list': async (_input, { host }) => ({ peers: listPeers(host) }),
  'peers.login': (input, { host }) => login(host, input),
  'peers.logout': (input, { host }) => logout(host, input),
  'peers.trust': async (peer, { host }) => {
    await trustPeer(host, peer);
    return {};
  },
};
