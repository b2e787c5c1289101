/** The head of a request as sent (RFC 9112, section 3). */
import type { HttpRequest } from './http-message.ts';

/** Methods whose requests have a body by nature: an absent one is announced as empty. */
const METHODS_WITH_BODY = /^(?:PUT|POST)$/;

/** @throws TypeError for characters that would end a line early, so that no header can be smuggled in. */
export function requestHead(request: HttpRequest, host: string): string {
  const { method, path, headers, body, lead } = request;
  if (!/^[!-~]+$/.test(path)) throw new TypeError('The path of the request contains unencoded characters.');
  let head = `${method} ${path} HTTP/1.1\r\n`;
  if (headers.host === undefined) head += `host: ${host}\r\n`;
  for (const name in headers) {
    const value = headers[name] as string;
    if (CONTROL.test(value) || !TOKEN.test(name)) throw new TypeError(`The header "${name}" cannot be sent.`);
    head += `${name}: ${value}\r\n`;
  }
  const bodyBytes = (lead?.byteLength ?? 0) + (body?.byteLength ?? 0);
  if (body || lead || METHODS_WITH_BODY.test(method)) head += `content-length: ${bodyBytes}\r\n`;
  return `${head}\r\n`;
}

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these.
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
