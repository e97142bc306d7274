/** What went wrong on the network, in words for a model. */
import { isOryxError, messageOf } from '../../kernel/index.ts';
import { HttpProblem } from './contract.ts';
import { codeOf } from './errno.ts';

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  ETIMEDOUT: 'the host did not answer',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
};

/** A failure of the network as an HttpProblem that names the host; refusals and problems stay what they are. */
export function networkProblem(error: unknown, host: string): unknown {
  if (error instanceof HttpProblem || isOryxError(error)) return error;
  if (error instanceof Error && error.name === 'TimeoutError') return new HttpProblem(`Timed out: ${error.message}`, { cause: error });
  return new HttpProblem(`Connection to ${host} failed: ${reasonOf(error)}`, { cause: error });
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const text = TEXTS[code];
  if (text !== undefined) return text;
  if (/^(HPE_|UND_ERR_)/.test(code) || (error as Error).name === 'HTTPParserError') return 'the answer is not valid HTTP';
  if (/CERT|SELF_SIGNED|UNABLE_TO_|SSL|TLS|EPROTO/.test(code)) return `no secure connection (${code})`;
  return code === '' ? messageOf(error).slice(0, 200) : code;
}
