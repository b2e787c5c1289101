/** S3's own errors: codes and answers as the API reference names them ("Error responses"). */
import { DrayError } from '../api/error.ts';
import { escapeXml } from './s3-xml.ts';

const STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidPartNumber: 416,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MissingSecurityHeader: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
} as const;

export type S3ErrorCode = keyof typeof STATUS;

export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: S3ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'S3Error';
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return STATUS[this.code];
  }
}

/**
 * The S3 error for a failure of the engine. Undefined for any other error, which is a fault of the gateway.
 */
export function asS3Error(error: unknown): S3Error | undefined {
  if (error instanceof S3Error) return error;
  if (!(error instanceof DrayError)) return undefined;
  switch (error.code) {
    case 'notFound':
    case 'forgotten':
      return new S3Error('NoSuchKey', error.message);
    case 'usage':
      return new S3Error('InvalidArgument', error.message);
    case 'slowDown':
      return new S3Error('SlowDown', error.message);
    case 'unreachable':
      return new S3Error('ServiceUnavailable', error.message);
    default:
      return new S3Error('InternalError', error.message);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const UNWRITABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

export function errorDocument({ code, message }: S3Error, resource: string, requestId: string): string {
  // No form of a control character is allowed in XML 1.0, and clients that fail to parse it lose the code.
  const fields = {
    Code: code,
    Message: message.replace(UNWRITABLE, '\ufffd'),
    Resource: resource,
    RequestId: requestId,
  };
  const inner = Object.entries(fields).map(([name, text]) => `<${name}>${escapeXml(text)}</${name}>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner.join('')}</Error>`;
}
