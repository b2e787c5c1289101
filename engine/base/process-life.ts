/** Identifies a process among all others, so that files named after it can be removed once it is dead. */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Facts that neither a clock change nor suspending the machine alters. */
export interface ProcessLife {
  /** The boot and the container within which process ids are unique. */
  readonly numbering: string;
  readonly startTicks: string;
}

/** Indexes of fields of `/proc/PID/stat`, counted after the name, which may contain spaces. See proc(5). */
const STATE_FIELD = 3 - 3;
const THREADS_FIELD = 20 - 3;
const START_FIELD = 22 - 3;

/** Undefined outside Linux, and when no such process exists. */
export function lifeOf(pid: number): ProcessLife | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const startTicks = fieldsOf(pid)[START_FIELD];
    const numbering = `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`;
    return startTicks === undefined ? undefined : { numbering, startTicks };
  } catch {
    return undefined;
  }
}

export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

function fieldsOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** A killed process is alive until its last thread has ended, because that may still write. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  return !isZombie(pid);
}

/** It has ended and its parent has not taken notice, which the first process of a container may never do. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const fields = fieldsOf(pid);
    return fields[STATE_FIELD] === 'Z' && Number(fields[THREADS_FIELD]) <= 1;
  } catch {
    return false;
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

/** A tag for file names: this process in this boot of this machine or container. */
export function makerTag(): string {
  return ownMaker().tag;
}

const MAKER_TAG = /^([0-9a-f]{8})-(\d{1,10})-(\d{1,20})$/;

/** False also when this machine cannot know, as for a process of another machine. */
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
