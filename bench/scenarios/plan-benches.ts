/** Plans which heats run on which server, in memory or on disk, and which have no room. */
import { findMemoryDisk } from '../../e2e/servers/memory-folder.ts';
import type { BenchArguments } from '../arguments.ts';
import { SERVER_NAMES, type ServerName, USUAL_SERVER } from '../machines/bench-servers.ts';
import type { StoreKind } from '../page/results.ts';
import type { Holding, Needs } from './holding.ts';
import { type Disks, planRoom } from './plan-room.ts';
import { addRooms, measureDisk, type Room } from './room.ts';
import type { Heat } from './scenario.ts';

/** The heats of one bench, in order. */
export interface BenchPlan {
  readonly server: ServerName;
  readonly store: StoreKind;
  /** The parent folder of the server's data. */
  readonly storeParent: string;
  readonly heats: readonly PlannedHeat[];
}

export interface PlannedHeat {
  readonly heat: Heat;
  /** As in `Bench.beginHeat`. */
  readonly keep: ReadonlySet<string>;
}

export interface LeftOut {
  readonly heat: Heat;
  readonly server: ServerName;
  readonly reason: string;
}

/** One kind of store and its disks, the wanted kind first. */
export interface StoreChoice {
  readonly store: StoreKind;
  readonly disks: Disks;
}

/**
 * Stores in memory what has room there, the rest on disk. Benches run in turn, and each leaves the disks as
 * they were.
 *
 * @param servers Undefined: each heat's own server. @param isLacking False for heats that are measured
 * already.
 */
export function planBenches(
  heats: readonly Heat[],
  servers: readonly ServerName[] | undefined,
  choices: readonly StoreChoice[],
  isLacking: (heat: Heat, server: ServerName) => boolean = () => true,
): { readonly benches: readonly BenchPlan[]; readonly leftOut: readonly LeftOut[] } {
  const benches: BenchPlan[] = [];
  const leftOut: LeftOut[] = [];
  for (const server of servers ?? SERVER_NAMES) {
    const isItsOwn = (heat: Heat) => {
      if (servers === undefined) return server === (heat.server ?? USUAL_SERVER);
      return !heat.isWithoutStore || server === servers[0];
    };
    let left = heats
      .filter((heat) => isItsOwn(heat) && isLacking(heat, server))
      .map((heat) => ({ heat, reason: '' }));
    for (const { disks, store } of choices) {
      const rooms = planRoom(
        left.map(({ heat }) => needsOn(server, heat.needs)),
        disks,
      );
      const planned = left.map(({ heat }, at) => ({ heat, ...rooms[at]! }));
      const fitting = planned.filter(({ lack }) => lack === undefined);
      const { path: storeParent } = disks.store;
      if (fitting.length > 0) benches.push({ server, store, storeParent, heats: fitting });
      left = planned.flatMap(({ heat, lack }) => (lack === undefined ? [] : [{ heat, reason: lack }]));
    }
    leftOut.push(...left.map((one) => ({ ...one, server })));
  }
  return { benches, leftOut };
}

export async function findStoreChoices({
  folder,
  store,
}: Pick<BenchArguments, 'folder' | 'store'>): Promise<readonly StoreChoice[]> {
  const source = await measureDisk(folder);
  const onDisk: StoreChoice = { store: 'disk', disks: { source, store: source, offered: [source] } };
  const found = store === 'memory' ? await findMemoryDisk() : undefined;
  if (!found) return [onDisk];
  const free: Room = { bytes: found.freeBytes, inodes: found.freeInodes };
  const memory = { ...(await measureDisk(found.folder)), free };
  const offered = [memory, source] as const;
  return [
    { store: 'memory', disks: { source, store: memory, offered } },
    { store: 'disk', disks: { source, store: source, offered } },
  ];
}

/**
 * MinIO keeps a folder for each object and cannot use written or linked files, so these are uploaded or left
 * out.
 */
function needsOn(server: ServerName, needs: Needs): Needs {
  if (server === 'versitygw') return needs;
  const holdings = needs.holdings
    .filter(({ how }) => how !== 'linked')
    .map((holding): Holding => {
      const { at, room } = holding;
      return at === 'store'
        ? { ...holding, room: addRooms(room, { bytes: 0, inodes: room.inodes }) }
        : holding;
    });
  const uploaded = needs.holdings.filter(({ how }) => how === 'written').map(({ room }) => room);
  const { store } = needs;
  return {
    ...needs,
    holdings,
    source: addRooms(needs.source, needs.fetched, ...uploaded),
    ...(store ? { store: addRooms(store, { bytes: 0, inodes: store.inodes }) } : {}),
  };
}
