/** Removal by the SDK. */
import type { CallOptions } from '../../object-store.ts';
import { isAbsentKey, isStray, translateFailure } from '../answers/s3-errors.ts';
import { removeAll } from '../removal-page.ts';
import { callOf, type SdkCaller } from './sdk-caller.ts';

export function deleteMany(sdk: SdkCaller, keys: readonly string[], options: CallOptions): Promise<void> {
  const remover = {
    place: sdk.connection.place,
    removeOne: (key: string) => deleteOne(sdk, key, options),
    removePage: (page: readonly string[]) => deletePage(sdk, page, options),
  };
  return removeAll(remover, keys);
}

async function deletePage(sdk: SdkCaller, keys: readonly string[], { signal }: CallOptions) {
  const { bucket, keyPrefix } = sdk.connection.place;
  const Objects = keys.map((key) => ({ Key: keyPrefix + key }));
  const command = new sdk.module.DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
  const outcome = await sdk.attempt(callOf(sdk, 'DeleteObjects'), command, signal);
  if (outcome.failure) return { failure: outcome.failure };
  const errors = (outcome.output.Errors ?? []).map(({ Key, Code, Message }) => ({
    key: Key ?? '',
    code: Code,
    message: Message,
  }));
  return { errors };
}

async function deleteOne(sdk: SdkCaller, key: string, { signal }: CallOptions): Promise<void> {
  const call = callOf(sdk, 'DELETE', key);
  const outcome = await sdk.attempt(call, new sdk.module.DeleteObjectCommand(sdk.object(key)), signal);
  const { failure } = outcome;
  if (failure && (!isAbsentKey(failure) || isStray(failure, call)))
    throw translateFailure(failure, call, sdk.connection.place);
}
