/** Plans which heats have room, and which holdings can be kept for later ones. */
import type { Holding, Needs } from './holding.ts';
import { addRooms, type Disk, fitsInto, formatRoom, NO_ROOM, type Room } from './room.ts';

export interface Disks {
  /** The disk of the data. */
  readonly source: Disk;
  /** The disk of the S3 server. */
  readonly store: Disk;
  /** The disks for offered folders: the first one with enough room, else the last. */
  readonly offered: readonly [Disk, ...Disk[]];
}

export interface RoomPlan {
  /** The holdings that may exist during the heat: its own, and those of later heats. */
  readonly keep: ReadonlySet<string>;
  /** Names what has no room; undefined when everything has. */
  readonly lack?: string;
}

/** Reserved for logs, indexes and the files of other programs. */
const RESERVE: Room = { bytes: 512 * 1024 ** 2, inodes: 20_000 };

/**
 * Keeps a holding for later heats while there is room for it beside the needs of each of them; otherwise it
 * is made again.
 *
 * @param heats The heats of one bench, in order. @param disks The disks before the first heat.
 */
export function planRoom(heats: readonly Needs[], disks: Disks): readonly RoomPlan[] {
  const lacks = heats.map((needs) => findLack(needs.holdings, needs, disks));
  const fitting = (from: number, to: number) =>
    heats.slice(from, to).filter((_, index) => lacks[from + index] === undefined);
  return heats.map((needs, at) => {
    const lack = lacks[at];
    const made = namesOf(fitting(0, at + 1));
    const kept = fitting(at, heats.length)
      .flatMap(({ holdings }) => holdings)
      .filter(({ name }) => made.has(name));
    const keep = namesOf([{ holdings: kept }]);
    if (lack !== undefined) return { keep, lack };
    return { keep: findLack(kept, needs, disks) === undefined ? keep : namesOf([needs]) };
  });
}

function namesOf(needs: readonly Needs[]): ReadonlySet<string> {
  return new Set(needs.flatMap(({ holdings }) => holdings.map(({ name }) => name)));
}

/** Names the first disk that is too small for everything at once. */
function findLack(holdings: readonly Holding[], needs: Needs, disks: Disks): string | undefined {
  const unique = [...new Map(holdings.map((holding) => [holding.name, holding])).values()];
  const heldAt = (at: Holding['at']) =>
    addRooms(...unique.filter((holding) => holding.at === at).map(({ room }) => room));
  const taken = new Map<number, Room>();
  const take = ({ device }: Disk, room: Room) =>
    taken.set(device, addRooms(taken.get(device) ?? RESERVE, room));
  take(disks.source, addRooms(heldAt('source'), needs.source));
  take(disks.store, addRooms(heldAt('store'), needs.store));
  const { offered = NO_ROOM } = needs;
  const hasRoom = ({ device, free }: Disk) => fitsInto(addRooms(taken.get(device) ?? RESERVE, offered), free);
  const offeredAt = disks.offered.find(hasRoom) ?? disks.offered.at(-1) ?? disks.source;
  if (offered !== NO_ROOM) take(offeredAt, offered);
  for (const { device, free, path } of [disks.source, disks.store, offeredAt]) {
    const needed = taken.get(device) ?? NO_ROOM;
    if (!fitsInto(needed, free))
      return `${path} has ${formatRoom(free)} free, and ${formatRoom(needed)} may be needed`;
  }
  return undefined;
}
