/** Why a port could not be opened, in words. */
import { messageOf } from '../../kernel/index.ts';

/** One sentence that names the host or port at fault, and one that says what to do. */
export function listenProblem(error: unknown, host: string, port: number): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another one with server.port or --port.`;
  if (code === 'EACCES') return `Port ${port} on ${host} may not be opened by this user. Choose one above 1023 with server.port or --port.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `Host "${host}" is unknown. Set server.host or --host to an address of this machine.`;
  if (code === 'EADDRNOTAVAIL') return `Host "${host}" is not an address of this machine. Set server.host or --host to one that is.`;
  return `The server cannot listen on ${host}:${port}: ${messageOf(error)}`;
}
