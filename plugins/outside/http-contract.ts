/** HTTP for tools: every address that a call leads to is judged by the guards before anything is sent to it. */
import type { Claim, ToolRun } from '../../kernel/index.ts';

/** What tools can ask. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request of a tool. */
export interface HttpCall {
  readonly method: HttpMethod;
  readonly url: string;
  /** Those of the connection itself (Host, Content-Length …) are not the caller's to set. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer's head, after redirects, and its body, which can be read once. */
export interface HttpAnswer {
  readonly status: number;
  /** The usual phrase for the status; what the server wrote there is not shown. */
  readonly reason: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer came from at last. */
  readonly url: string;
  /** Pieces of the body, unpacked. Throws HttpProblem when the network fails and when the time is over. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * HTTP for one tool call. Each URL, the first and those of up to five redirects, is claimed (`run.claim`) before its name is looked up, and
 * again with all addresses behind it; then exactly one of these is dialled. Settings of a proxy in the environment are ignored.
 */
export interface Http {
  /**
   * Sends a request and gives its answer to `use`; when that has settled the connection is closed. Throws ORYX_REFUSED as `run.claim` does,
   * HttpProblem for what a model can act on, the signal's reason, and what `use` throws. The whole may take 30 s.
   */
  send<T>(call: HttpCall, run: ToolRun, use: (answer: HttpAnswer) => Promise<T>): Promise<T>;
}

/** A failure whose text is fit for the model. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  /** Set when the request may never be made: not retryable then. */
  readonly blockedBy: string | undefined;
  constructor(message: string, options?: { readonly cause?: unknown; readonly blockedBy?: string }) {
    super(message, options);
    this.blockedBy = options?.blockedBy;
  }
}

const ADDRESSES = Symbol('oryxos.outside.addresses');

interface UrlClaim extends Claim {
  readonly [ADDRESSES]?: readonly string[];
}

/** What a request claims: writing needs more permission than reading. */
export const accessOf = (method: HttpMethod): 'read' | 'write' => (method === 'GET' ? 'read' : 'write');

/** A claim on a URL; `addresses` are those behind its name, once they are known: one of them will be dialled. */
export function urlClaim(url: string, access: 'read' | 'write', addresses?: readonly string[]): Claim {
  const claim: UrlClaim = { kind: 'url', value: url, access, ...(addresses && { [ADDRESSES]: addresses }) };
  return claim;
}

/** The addresses that a claim on a URL carries; undefined before the name has been looked up. */
export const addressesOf = (claim: Claim): readonly string[] | undefined => (claim as UrlClaim)[ADDRESSES];
