/** One error class and the catalogue of its codes. */

/** Every code with the HTTP status that it means to a client. */
export const ERROR_STATUS = {
  ORYX_INVALID_INPUT: 400,
  ORYX_INVALID_AGENT: 400,
  ORYX_FORBIDDEN: 403,
  ORYX_NOT_FOUND: 404,
  ORYX_METHOD_NOT_ALLOWED: 405,
  ORYX_CONFLICT: 409,
  ORYX_TOO_LARGE: 413,
  ORYX_UNSUPPORTED_TYPE: 415,
  ORYX_TOOL_FATAL: 422,
  ORYX_SESSION_BUSY: 429,
  ORYX_TOO_MANY: 503,
  ORYX_CANCELLED: 409,
  ORYX_INTERRUPTED: 500,
  ORYX_INTERNAL: 500,
  ORYX_PROVIDER_FAILED: 503,
  ORYX_AGENT_GONE: 503,
  ORYX_STORE_UNAVAILABLE: 503,
  ORYX_STOPPING: 503,
  ORYX_AUDIT_FAILED: 503,
  ORYX_TURN_TIMEOUT: 504,
  ORYX_TURN_UNKNOWN: 404,
  ORYX_STORE_CONFLICT: 409,
  ORYX_STORE_CONSTRAINT: 409,
  ORYX_STORE_NEWER: 500,
  ORYX_WORKSPACE_BUSY: 409,
  ORYX_NAME_TAKEN: 409,
  ORYX_NAME_CHANGED: 500,
  ORYX_SERVICE_TAKEN: 409,
  ORYX_SERVICE_MISSING: 503,
  ORYX_PLUGIN_LOADED: 409,
  ORYX_PLUGIN_CONFIG: 400,
  ORYX_PLUGIN_FAILED: 500,
  ORYX_SETUP_TIMEOUT: 500,
  ORYX_SCOPE_CLOSED: 500,
  ORYX_REFUSED: 422,
  ORYX_HOOK_FAILED: 500,
  ORYX_CONFIG: 400,
  ORYX_SECRET_KEY: 500,
  ORYX_CHANNEL_UNREADY: 503,
} as const;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof ERROR_STATUS;

const BRAND = Symbol.for('oryxos.error');

/**
 * An error with a stable code. The message says who failed and what to do, in English, and is fit for a client: no stack, no secret,
 * no path outside the workspace. Details for the operator go into `cause`.
 */
export class OryxError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'OryxError';
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }
  /** The HTTP status that the code stands for. */
  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** Recognises an OryxError, also one thrown by another copy of this module. */
export function isOryxError(error: unknown): error is OryxError {
  return error instanceof Error && (error as { [BRAND]?: unknown })[BRAND] === true;
}

/** A thing that does not exist: 404. */
export const notFound = (message: string): OryxError => new OryxError('ORYX_NOT_FOUND', message);
/** A client's mistake: 400. The message names the field. */
export const invalidInput = (message: string): OryxError => new OryxError('ORYX_INVALID_INPUT', message);
/** A request that does not fit the present state: 409. */
export const conflict = (message: string): OryxError => new OryxError('ORYX_CONFLICT', message);

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Anything that was thrown, as an Error. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
