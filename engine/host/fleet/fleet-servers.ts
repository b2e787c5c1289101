/**
 * The Temporal servers that a window knows: that of `TEMPORAL_ADDRESS`, and those in `fleets.json` beside the
 * user's other settings. The file names files with keys, and holds no key.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import type { FleetServer } from '../../api/host/fleet.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';
import type { HostState } from '../host-state.ts';
import { fleetServer } from '../port/fleet-inputs.ts';

const SERVERS_MAX = 20;
const QUEUE = 'dray-fleet';
const UI_PORT = 8233;
const SCHEMA = v.object({ servers: v.array(v.object(fleetServer.entries)) });

type Facts = Pick<HostState, 'environment' | 'folder'>;

export function listServers(facts: Facts): FleetServer[] {
  const given = givenServer(facts);
  const own = readOwn(facts).filter(({ name }) => name !== given?.name);
  return given ? [given, ...own] : own;
}

/** @throws `notFound` */
export function findServer(facts: Facts, name: string): FleetServer {
  const found = listServers(facts).find((server) => server.name === name);
  if (found) return found;
  throw new DrayError('notFound', `There is no Temporal server "${name}" any more.`);
}

/** @param from The name of the server that it replaces. @throws `usage` if the name is taken */
export function keepServer(facts: Facts, server: FleetServer, from: string | undefined): void {
  const own = readOwn(facts);
  const isTaken = listServers(facts).some(({ name }) => name === server.name && name !== from);
  if (isTaken)
    throw new DrayError('usage', `There is a server "${server.name}" already. Choose another name.`);
  const at = own.findIndex(({ name }) => name === from);
  const next = at < 0 ? [...own, server] : own.with(at, server);
  if (next.length > SERVERS_MAX)
    throw new DrayError('usage', `A window keeps ${SERVERS_MAX} servers. Remove one first.`);
  writeOwn(facts, next);
}

export function removeServer(facts: Facts, removed: string): void {
  writeOwn(
    facts,
    readOwn(facts).filter(({ name }) => name !== removed),
  );
}

/** The job's page in Temporal's own screens. */
export function temporalUrl({ address, namespace, uiUrl }: FleetServer, job: string): string {
  const base = uiUrl ?? `http://${address.replace(/:\d+$/, '')}:${UI_PORT}`;
  const path = ['namespaces', namespace, 'workflows', `dray-fleet-${job}`].map(encodeURIComponent).join('/');
  return `${base.replace(/\/+$/, '')}/${path}`;
}

function givenServer({ environment }: Facts): FleetServer | undefined {
  const address = environment.TEMPORAL_ADDRESS;
  if (!address) return undefined;
  const namespace = environment.TEMPORAL_NAMESPACE || 'default';
  return { name: address, address, namespace, queue: QUEUE, isGiven: true };
}

function pathOf({ folder }: Facts): string {
  return join(folder, 'fleets.json');
}

function readOwn(facts: Facts): readonly FleetServer[] {
  return readJsonFile(pathOf(facts), SCHEMA)?.servers ?? [];
}

function writeOwn(facts: Facts, servers: readonly FleetServer[]): void {
  writeJsonFile(pathOf(facts), { servers });
}
