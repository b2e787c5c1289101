/**
 * Recognises MinIO, two of whose habits need other requests. Its Server header names it, but a proxy often
 * replaces that. MinIO's host id has 64 hex digits, where Amazon's is base64. Before 2023 MinIO had no host
 * id, and sent a policy that no other store sends.
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
