/** The schemas of a window's requests about fleets. */
import { isAbsolute } from 'node:path';
import * as v from 'valibot';

const line = (charsMax: number) =>
  v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(charsMax),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
    v.check((value) => !/[\u0000-\u001f\u007f]/.test(value), 'it must be one line of text'),
  );
const name = line(200);
const file = v.exactOptional(v.pipe(line(4_096), v.check(isAbsolute, 'it must be an absolute path')));
const ADDRESS = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/;

export const fleetServer = v.strictObject({
  name,
  address: v.pipe(line(300), v.regex(ADDRESS, 'it must be HOST:PORT, such as temporal.example.com:7233')),
  namespace: name,
  queue: name,
  uiUrl: v.exactOptional(
    v.pipe(
      line(2_000),
      v.check(isPlainUrl, 'it must be an address such as http://temporal.example.com:8233'),
    ),
  ),
  tls: v.exactOptional(v.boolean()),
  caPath: file,
  certPath: file,
  keyPath: file,
  serverName: v.exactOptional(name),
  apiKeyPath: file,
  payloadKeyPath: file,
});

const server = { server: name };
/** An id as the command accepts it. */
const job = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'it must be the name of a job'));

export const FLEET_INPUTS = {
  'fleet.servers': v.strictObject({}),
  'fleet.keepServer': v.strictObject({ server: fleetServer, from: v.exactOptional(name) }),
  'fleet.removeServer': v.strictObject({ name }),
  'fleet.watch': v.strictObject({ ...server, job: v.exactOptional(job) }),
  'fleet.change': v.strictObject({
    ...server,
    job,
    action: v.picklist(['pause', 'resume', 'cancel', 'retryFailed']),
  }),
  'fleet.failures': v.strictObject({ ...server, job }),
};

/** It becomes a link: no other scheme, and no user name, which would make one host look like another. */
function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  return isWeb && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
