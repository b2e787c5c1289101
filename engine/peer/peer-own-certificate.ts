/**
 * A certificate for users without one: created once and kept with the user's settings, so that clients
 * recognise it.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../base/replace-file.ts';
import { readCertificate, type ServerCertificate } from './peer-certificate.ts';

const YEARS = 10;
const RENEWED_BEFORE_MS = 30 * 24 * 60 * 60 * 1000;

/** @param folder The folder of the user's settings. */
export async function ownCertificate(folder: string, name: string): Promise<ServerCertificate> {
  const [certPath, keyPath] = [join(folder, 'peer-cert.pem'), join(folder, 'peer-key.pem')];
  if (existsSync(certPath) && existsSync(keyPath)) {
    const kept = readCertificate(certPath, keyPath);
    const endsMs = new X509Certificate(kept.cert).validToDate.getTime();
    if (endsMs - Date.now() > RENEWED_BEFORE_MS) return kept;
  }
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + YEARS);
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: name }], { keyType: 'ec', notAfterDate });
  replaceFile(keyPath, made.private, 0o600);
  replaceFile(certPath, made.cert, 0o600);
  return { cert: made.cert, key: made.private };
}
