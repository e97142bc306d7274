/** What it means for a message that the network failed: whether any of it can have arrived. */
import { isOryxError, type NotifyTarget } from '../../kernel/index.ts';
import { codeOf, isNothingSent, networkReason } from '../shared/network-failure.ts';
import { type NotifyFailure, shown } from './outcome.ts';

/**
 * The failure behind what the HTTP client threw. `later` when nothing was sent, `refused` when nothing ever will be, and `unknown` for
 * everything that is not known to have happened before the sending.
 */
export function networkFailure(label: string, error: unknown, target: NotifyTarget): NotifyFailure {
  if (isOryxError(error)) {
    const message = `${label} cannot be asked: ${shown(error.message, target)}`;
    return { ok: false, kind: error.code === 'ORYX_REFUSED' ? 'refused' : error.code === 'ORYX_STOPPING' ? 'later' : 'unknown', message };
  }
  if (codeOf(error) === 'UND_ERR_INVALID_ARG') {
    return { ok: false, kind: 'refused', message: `the request for ${label} cannot be formed: look at the URL and headers of the channel` };
  }
  if (isNothingSent(error)) return { ok: false, kind: 'later', message: `${label} cannot be reached: ${networkReason(error)}` };
  return { ok: false, kind: 'unknown', message: `the message may or may not have reached ${label}: ${networkReason(error)}` };
}
