/** Starting and killing whole servers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A server in a process of its own. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** Resolves when the process is gone. */
  readonly gone: Promise<unknown>;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

/**
 * Starts a server on a home directory.
 *
 * @param failpoint  where it is to kill itself, "" for nowhere
 * @throws Error when it ends before it listens
 */
export async function startServer(home: string, modelUrl: string, failpoint = ''): Promise<ServerProcess> {
  const script = import.meta.url.endsWith('.ts') ? './child.ts' : './child.js';
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify({ home, modelUrl, failpoint })], {
    execArgv: process.execArgv.filter((argument) => !argument.includes('mocha')),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const gone = once(child, 'exit');
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const first = (await Promise.race([once(child, 'message'), gone.then(() => [undefined])])) as [{ url: string } | undefined];
  if (!first[0]) throw new Error(`the server ended before it listened: ${errors}`);
  const kill = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  return { url: first[0].url, child, gone, kill, [Symbol.asyncDispose]: () => kill('SIGKILL') };
}
