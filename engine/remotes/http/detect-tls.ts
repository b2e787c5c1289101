/**
 * Finds out that the server of an `http:` origin uses TLS. Such servers answer a plain request with a reset,
 * a 400 in plain text, or a TLS alert. When a request fails in one of these ways, and the server has not
 * answered otherwise before, this tries one TLS handshake. If that succeeds, the request fails with
 * `HTTP_WANTS_TLS`, which names the remedy and is not retried.
 */
import { isIP } from 'node:net';
import { type HttpAnswer, HttpError } from './http-message.ts';
import type { HttpTransport } from './http-transport.ts';

const PROBE_MAX_MS = 3_000;
const SUSPECT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'HTTP_CUT_SHORT',
  'HTTP_MALFORMED',
]);

export function withTlsDetection(transport: HttpTransport, origin: URL): HttpTransport {
  /** The server has given a plain answer, or failed the handshake. */
  let isPlain = false;
  let asked: Promise<boolean> | undefined;
  let isClosed = false;
  const refuseTls = async () => {
    asked ??= speaksTls(origin);
    isPlain = !(await asked);
    if (!isPlain) throw new HttpError('HTTP_WANTS_TLS', `${origin.host} uses TLS.`);
  };
  const hinting = async <T extends HttpAnswer>(work: () => Promise<T>, drop: (answer: T) => void) => {
    let answer: T;
    try {
      answer = await work();
    } catch (error) {
      // A closed transport fails requests with the same error as a reset.
      const isSuspectCode = SUSPECT_CODES.has((error as NodeJS.ErrnoException | undefined)?.code);
      if (isSuspectCode && !isClosed) await refuseTls();
      throw error;
    }
    if (!isSuspect(answer)) isPlain = true;
    else {
      try {
        await refuseTls();
      } catch (error) {
        drop(answer);
        throw error;
      }
    }
    return answer;
  };
  const { exchange, stream } = transport;
  return {
    close() {
      isClosed = true;
      return transport.close();
    },
    exchange: (request, maxBytes) =>
      isPlain
        ? exchange(request, maxBytes)
        : hinting(
            () => exchange(request, maxBytes),
            () => {},
          ),
    stream: (request) =>
      isPlain
        ? stream(request)
        : hinting(
            () => stream(request),
            ({ body }) => body.destroy(),
          ),
  };
}

/** Stores and peers answer in XML and JSON. A TLS library refuses a plain request in text or HTML. */
function isSuspect({ headers, status }: HttpAnswer): boolean {
  return status === 400 && !/xml|json/i.test(String(headers['content-type']));
}

/** Tries a handshake and sends nothing. Accepts any certificate. */
async function speaksTls({ hostname, port }: URL): Promise<boolean> {
  const { connect } = await import('node:tls');
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port) || 80,
      rejectUnauthorized: false,
      ...(isIP(host) ? {} : { servername: host }),
    });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PROBE_MAX_MS, () => end(false));
    socket.once('secureConnect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('close', () => resolve(false));
  });
}
