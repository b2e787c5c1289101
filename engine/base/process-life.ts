/** Who made a file: what tells one process from all others, so that what a dead one left can be known. */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** What no setting of the clock and no sleep of the machine moves. */
export interface ProcessLife {
  /** The start of the system, and the container, that process numbers belong to. */
  readonly numbering: string;
  readonly startTicks: string;
}

/** Of `/proc/PID/stat`, counted from the one after the name, which may hold spaces. */
const START_FIELD = 22 - 3;

/** Undefined where the system does not have it (other than Linux), or there is no such process. See proc(5). */
export function lifeOf(pid: number): ProcessLife | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD];
    const numbering = `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`;
    return startTicks === undefined ? undefined : { numbering, startTicks };
  } catch {
    return undefined;
  }
}

export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and is another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

export function hostTag(): string {
  return shortHash(hostname());
}

let own: { readonly numbering: string; readonly tag: string } | undefined;

function ownMaker() {
  if (own) return own;
  const life = lifeOf(process.pid);
  const numbering = shortHash(`${hostname()} ${life?.numbering ?? ''}`);
  own = { numbering, tag: `${numbering}-${process.pid}-${life?.startTicks ?? 0}` };
  return own;
}

/** For names of files: this process, of this start of this machine or container. */
export function makerTag(): string {
  return ownMaker().tag;
}

const MAKER_TAG = /^([0-9a-f]{8})-(\d{1,10})-(\d{1,20})$/;

/** False also when it cannot be known, as of another machine's process. */
export function isMakerGone(tag: string): boolean {
  const parts = MAKER_TAG.exec(tag);
  if (!parts || parts[1] !== ownMaker().numbering || tag === makerTag()) return false;
  const pid = Number(parts[2]);
  if (!isAlive(pid)) return true;
  const life = lifeOf(pid);
  return life !== undefined && life.startTicks !== parts[3];
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
