/** Options of commands that listen on the network. */
import { InvalidArgumentError } from 'commander';
import type { ServeRequest } from '../../../engine/api/jobs/peers.ts';

export function parseListen(text: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[3]);
  if (!parts || port > 65_535)
    throw new InvalidArgumentError('Give HOST:PORT, such as 0.0.0.0:7370 or [::1]:7370.');
  return { host: (parts[1] ?? parts[2])!, port };
}

export function parseTls(text: string): NonNullable<ServeRequest['tls']> {
  if (text === 'auto' || text === 'off') return text;
  const [certPath, keyPath, ...rest] = text.split(',');
  if (certPath && keyPath && rest.length === 0) return { certPath, keyPath };
  throw new InvalidArgumentError(
    'Give auto, off, or the files of a certificate and its key: cert.pem,key.pem.',
  );
}
