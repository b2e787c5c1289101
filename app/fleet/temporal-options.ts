/** How to reach Temporal: the same for the commands and the workers. */
import { readFile } from 'node:fs/promises';
import type { DataConverter } from '@temporalio/common';
import { DrayError } from '../../engine/api/error.ts';
import { createPayloadCodec, parsePayloadKey } from './payload-codec.ts';

export interface TemporalOptions {
  /** `HOST:PORT`. */
  readonly address: string;
  readonly namespace: string;
  readonly queue: string;
  readonly tls: boolean;
  /** Files in PEM form. */
  readonly caPath?: string;
  readonly certPath?: string;
  readonly keyPath?: string;
  readonly serverName?: string;
  readonly apiKeyPath?: string;
  readonly payloadKeyPath?: string;
}

/** In the form that both kinds of Temporal's connections take. */
export interface ConnectionSettings {
  readonly address: string;
  readonly tls: boolean | TlsSettings;
  readonly apiKey?: string;
}

interface TlsSettings {
  serverNameOverride?: string;
  serverRootCACertificate?: Buffer;
  clientCertPair?: { crt: Buffer; key: Buffer };
}

/** @throws `usage` for a file that cannot be read, and for half a certificate */
export async function connectionSettings(options: TemporalOptions): Promise<ConnectionSettings> {
  const { address, apiKeyPath, caPath, certPath, keyPath, serverName } = options;
  const apiKey = apiKeyPath === undefined ? undefined : (await readBytes(apiKeyPath)).toString('utf8').trim();
  if ((certPath === undefined) !== (keyPath === undefined))
    throw new DrayError('usage', '--tls-cert and --tls-key belong together: give both.');
  const tls: TlsSettings = {};
  if (serverName !== undefined) tls.serverNameOverride = serverName;
  if (caPath !== undefined) tls.serverRootCACertificate = await readBytes(caPath);
  if (certPath !== undefined && keyPath !== undefined)
    tls.clientCertPair = { crt: await readBytes(certPath), key: await readBytes(keyPath) };
  const isTls = options.tls || apiKey !== undefined || Object.keys(tls).length > 0;
  return { address, tls: isTls && tls, ...(apiKey !== undefined && { apiKey }) };
}

export async function dataConverter({ payloadKeyPath }: TemporalOptions): Promise<DataConverter> {
  if (payloadKeyPath === undefined) return {};
  const key = parsePayloadKey((await readBytes(payloadKeyPath)).toString('utf8'), payloadKeyPath);
  return { payloadCodecs: [createPayloadCodec(key)] };
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DrayError('usage', `${path} cannot be read: ${why}.`, { cause });
  }
}
