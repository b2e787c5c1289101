/** Which heats there is room for, and what may be kept from one for the next. */
import type { Holding, Needs } from './holding.ts';
import { addRooms, type Disk, fitsInto, formatRoom, NO_ROOM, type Room } from './room.ts';

export interface Disks {
  /** Of the data. */
  readonly source: Disk;
  /** Of the S3 server. */
  readonly store: Disk;
  /** Of folders that are offered: the first with room enough, else the last. */
  readonly offered: readonly [Disk, ...Disk[]];
}

export interface RoomPlan {
  /** Of all that is held, what may be there during the heat: what it names itself, and what one to come does. */
  readonly keep: ReadonlySet<string>;
  /** What there is no room for; undefined when there is. */
  readonly lack?: string;
}

/** For what is no data: logs, indexes, what others write meanwhile. */
const RESERVE: Room = { bytes: 512 * 1024 ** 2, inodes: 20_000 };

/**
 * What is made for one heat stays for those to come as long as there is room for it beside what each of them needs; where
 * there is not, it is made again.
 *
 * @param heats Of one bench, in their order.
 * @param disks As they are before the first of them.
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

/** What is missing on the first disk that is too small for that at once. */
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
