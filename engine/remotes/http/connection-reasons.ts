/** Why a server cannot be reached, by the codes of Node and of `HttpError`. */
export const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is unknown',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  ETIMEDOUT: 'it did not answer in time',
  HTTP_CONNECT_TIMEOUT: 'it did not answer in time',
  HTTP_ANSWER_TIMEOUT: 'it did not answer in time',
  HTTP_BODY_TIMEOUT: 'it stopped sending',
  HTTP_CUT_SHORT: 'the answer ended early',
  HTTP_MALFORMED: 'it does not answer with HTTP',
  HTTP_NO_TLS: 'it does not use TLS',
  HTTP_WANTS_TLS: 'it uses TLS',
};

/** OpenSSL's codes for a server that answers the handshake with something other than TLS. */
export const NO_TLS_CODES: ReadonlySet<unknown> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);
