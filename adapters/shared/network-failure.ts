/** What a failure of the network means: whether anything of a request can have arrived, and how it is called. */

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name could not be looked up',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EMFILE: 'the server has too many open files',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its TLS certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another host',
  EPROTO: 'it does not speak TLS as expected',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
};

/** Certificates are judged, and protocol versions agreed on, before the first byte of a request. */
const IN_THE_HANDSHAKE =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|SSLV3_ALERT_HANDSHAKE_FAILURE|TLSV1_ALERT_PROTOCOL_VERSION)$)/;

/** True when nothing of the request can have been sent. False for everything that is not known to have happened before the sending. */
export function isNothingSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // One address after the other was tried.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isNothingSent);
  const { syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  if (isConnectTimeout(error) || error.message.startsWith('Client network socket disconnected before secure TLS')) return true;
  const code = codeOf(error);
  return code !== undefined && (code === 'UND_ERR_CONNECT_TIMEOUT' || IN_THE_HANDSHAKE.test(code));
}

/** The client's two deadlines bear one name. */
const isConnectTimeout = ({ name, message }: Error): boolean => name === 'TimeoutError' && message.startsWith('no connection to ');

/** A few words for people, without addresses. */
export function networkReason(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return 'the attempt was broken off';
  if (error instanceof Error && error.name === 'TimeoutError')
    return isConnectTimeout(error) ? 'no connection in time' : 'no answer in time';
  const code = codeOf(error);
  return code === undefined ? 'network error' : (REASONS[code] ?? `network error ${code.replaceAll(/[^A-Z0-9_]/g, '')}`);
}

/** The code of an error, or of the nearest of its causes that has one. */
export function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code: unknown = 'code' in at ? at.code : undefined;
    if (typeof code === 'string') return code;
  }
  return undefined;
}
