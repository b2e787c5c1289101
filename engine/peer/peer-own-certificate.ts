/** A certificate for those who have none: made once, kept with the user's settings, so that clients know it again. */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCertificate, type ServerCertificate } from './peer-certificate.ts';

const YEARS = 10;
const RENEWED_BEFORE_MS = 30 * 24 * 60 * 60 * 1000;

/** @param folder Of the user's settings. */
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
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [path, text] of [
    [keyPath, made.private],
    [certPath, made.cert],
  ] as const) {
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, path);
  }
  return { cert: made.cert, key: made.private };
}
