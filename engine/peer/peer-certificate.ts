/** The certificate of a peer. Clients do not check who signed it: they remember its fingerprint. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DrayError } from '../api/error.ts';

/** PEM. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** SHA-256 of the certificate, in hex with colons, as browsers and openssl show it. */
export function fingerprintOf(cert: string): string {
  return new X509Certificate(cert).fingerprint256;
}

/** @throws DrayError `usage` if they cannot be read or do not match. */
export function readCertificate(certPath: string, keyPath: string): ServerCertificate {
  const [cert, key] = [read(certPath), read(keyPath)];
  let isPair: boolean;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new DrayError('usage', `${certPath} and ${keyPath} are not a certificate and a key in PEM form.`, {
      cause,
    });
  }
  if (isPair) return { cert, key };
  throw new DrayError('usage', `The key ${keyPath} does not match the certificate ${certPath}.`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new DrayError('usage', `${path} cannot be read.`, { data: { path }, cause });
  }
}
