/** Opens a prefix of a bucket on any S3-compatible store. Sends nothing yet. */
import type { ObjectStore } from '../object-store.ts';
import { credentialSourceOf, identityOf } from './keys/credentials.ts';
import { readProfile } from './keys/profile.ts';
import type { S3Connection } from './s3-connection.ts';
import { resolvePlace, type S3Options, storePlaceOf } from './s3-options.ts';
import { createS3Store } from './s3-store.ts';
import { readAuthorities } from './trusted-certificates.ts';

/** Sockets, not requests under way: the scheduler bounds those. */
const MAX_CONNECTIONS = 128;

/**
 * Settings are taken from the options, then `AWS_*` variables, then the profile.
 * @throws `usage` for an invalid bucket, endpoint or profile. Credentials are resolved at the
 * first call.
 */
export async function openS3Store(options: S3Options): Promise<ObjectStore> {
  const profile = await readProfile(options);
  const connection: S3Connection = {
    place: resolvePlace(options, profile),
    credentials: credentialSourceOf(options, profile),
    maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
    clockOffsetMs: options.clockOffsetMs ?? 0,
    authorities: readAuthorities(options, profile),
    onWire: options.onWire,
  };
  const storePlace = storePlaceOf(connection.place, identityOf(options, profile));
  return createS3Store(connection, storePlace);
}
