/** The requests about a version: how S3 clients read it. */
import { homedir } from 'node:os';
import { DrayError } from '../../api/error.ts';
import type { VersionAccess } from '../../api/host/versions.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { parseNamedPlace } from '../../jobs/places/open-side.ts';
import { GATEWAY_PORT, isBucketName, readGatewayKeys } from '../../jobs/versions/gateway-access.ts';
import { defaultCloneFolder, formatRemoteUrl, type RemoteUrl } from '../../remotes/remote-url.ts';
import { type HandlersOf, jobContextOf } from '../port/host-call.ts';

export const VERSIONS: HandlersOf<'versions'> = {
  'versions.access': async ({ place }, call) => accessTo(jobContextOf(call, homedir()), place),
  'versions.secret': async (_input, { host }) => {
    const secretAccessKey = readGatewayKeys(host)?.secretAccessKey;
    return secretAccessKey === undefined ? {} : { secretAccessKey };
  },
};

/** For a repository whose own name cannot be a bucket's. */
const OTHER_NAME = 'repository';

function accessTo(context: JobContext, text: string): VersionAccess {
  const place = parseNamedPlace(context, { place: text });
  if (place.kind === 'local' || place.url.kind !== 'version')
    throw new DrayError('usage', `${place.text} is not a version of a repository.`);
  const { prefix, ref, repository } = place.url;
  const own = nameOf(repository);
  const bucket = own ?? OTHER_NAME;
  const url = formatRemoteUrl(repository);
  const isFolder = place.isFolderForm && prefix !== '';
  const accessKeyId = readGatewayKeys(context)?.accessKeyId;
  return {
    command: `dray gateway ${quoteWord(own === undefined ? `${bucket}=${url}` : url)}`,
    endpoint: `http://127.0.0.1:${GATEWAY_PORT}`,
    bucket,
    ref,
    key: `${ref}/${prefix}${isFolder ? '/' : ''}`,
    ...(accessKeyId === undefined ? {} : { accessKeyId }),
  };
}

/** The bucket that the gateway makes of the repository. Undefined: it needs a name. */
function nameOf(repository: RemoteUrl): string | undefined {
  try {
    const name = defaultCloneFolder(repository);
    return isBucketName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** One word for a POSIX shell. */
function quoteWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
