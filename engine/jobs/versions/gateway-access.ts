/** What clients of `dray gateway` need to know: its address, the names of its buckets, and its key pair. */
import { join } from 'node:path';
import * as v from 'valibot';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { readJsonFile } from '../../base/json-file.ts';
import { userConfigFolder } from '../session/user-remotes.ts';

export const GATEWAY_PORT = 9400;
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

const keySchema = v.object({
  accessKeyId: v.pipe(v.string(), v.regex(/^[A-Z0-9]{16,32}$/)),
  secretAccessKey: v.pipe(v.string(), v.minLength(32), v.maxLength(128)),
});

export type GatewayKeys = Readonly<v.InferOutput<typeof keySchema>>;

export function isBucketName(name: string): boolean {
  return BUCKET_NAME.test(name);
}

export function gatewayKeyPath(context: Pick<JobContext, 'environment'>): string {
  return join(userConfigFolder(context), 'gateway.json');
}

/** Undefined before the first start of a gateway that checks signatures. @throws `io` */
export function readGatewayKeys(context: Pick<JobContext, 'environment'>): GatewayKeys | undefined {
  return readJsonFile(gatewayKeyPath(context), keySchema);
}
