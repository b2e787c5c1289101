/**
 * Whether an answer is MinIO's, two of whose habits need other requests. Its Server header says so, but proxies in front of it commonly put
 * their own in its place. Then what it calls the host of a request does: 64 hex digits, where Amazon has base64. Before 2023 it had none, and
 * sent a policy that nobody else sends with a store's answers.
 */
import type { HttpAnswer } from '../../http/http-message.ts';
import { headerOf } from '../s3-connection.ts';

export function isOfMinio(answer: Pick<HttpAnswer, 'headers' | 'status'>): boolean {
  if (/^minio/i.test(headerOf(answer, 'server') ?? '')) return true;
  if (/^[0-9a-f]{64}$/.test(headerOf(answer, 'x-amz-id-2') ?? '')) return true;
  return (
    headerOf(answer, 'content-security-policy') === 'block-all-mixed-content' &&
    /^[0-9A-F]{16}$/.test(headerOf(answer, 'x-amz-request-id') ?? '')
  );
}
