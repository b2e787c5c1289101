/**
 * The certificates of peers that were met, by host and port, as ssh remembers hosts: nobody signs a peer's certificate, so the first
 * meeting is taken on trust, and every later one has to be with the same.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { replaceFile } from '../../base/replace-file.ts';

const SCHEMA = v.object({ peers: v.record(v.string(), v.string()) });

export interface KnownPeersOptions {
  /** May not be there yet. */
  readonly path: string;
  /** Told when a peer is met for the first time. */
  readonly onNew: (message: string) => void;
}

/** @param peer `HOST:PORT`. @returns For each connection: what to refuse it with, or undefined. */
export function createFingerprintCheck(
  peer: string,
  { onNew, path }: KnownPeersOptions,
): (fingerprint: string) => DrayError | undefined {
  let known: string | undefined;
  return (fingerprint) => {
    if (fingerprint === '') return new DrayError('accessDenied', `dray://${peer} shows no certificate.`);
    known ??= readKnown(path)[peer];
    if (known === undefined) {
      remember(path, peer, fingerprint);
      known = fingerprint;
      onNew(
        `dray://${peer} is met for the first time. Its certificate's fingerprint is ${fingerprint}; compare it with what "dray serve" shows there.`,
      );
    }
    if (known === fingerprint) return undefined;
    return new DrayError(
      'accessDenied',
      `The certificate of dray://${peer} is another one than before: somebody else may answer in its place. Nothing was sent. Known was ${known}, now it is ${fingerprint}. If it was changed on purpose, delete the line "${peer}" in ${path}.`,
      { data: { peer, known, fingerprint, path } },
    );
  };
}

function readKnown(path: string): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new DrayError('io', `The list of known peers, ${path}, cannot be read.`, { data: { path }, cause });
  }
  try {
    return v.parse(SCHEMA, JSON.parse(text)).peers;
  } catch (cause) {
    // Taken for empty it would trust whoever answers.
    throw new DrayError(
      'usage',
      `The list of known peers, ${path}, is damaged: mend the file, or delete it.`,
      {
        data: { path },
        cause,
      },
    );
  }
}

function remember(path: string, peer: string, fingerprint: string): void {
  const peers = { ...readKnown(path), [peer]: fingerprint };
  try {
    replaceFile(path, `${JSON.stringify({ peers }, undefined, 2)}\n`, 0o600);
  } catch (cause) {
    throw new DrayError('io', `The list of known peers, ${path}, cannot be written.`, {
      data: { path },
      cause,
    });
  }
}
