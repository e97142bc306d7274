import { isSecretName } from '../secrets/contract.ts';

const ENDS = /(?:secret|token|key|password|passwd)$/i;
const HEADERS = /^(?:(?:proxy-)?authorization|cookie|x-auth.*)$/i;

/** Whether a configuration key or a header of this name holds a secret. */
export const isChannelSecretName = (name: string): boolean => ENDS.test(name) || HEADERS.test(name) || isSecretName(name);
