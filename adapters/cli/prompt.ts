/** Single questions to the person at the terminal. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { CliHost } from './cli-host.ts';

/** Whether somebody can be asked. */
export function isInteractive(host: CliHost): boolean {
  return host.stdin.isTTY === true && host.stdout.isTTY === true;
}

/** Asks yes or no; only "y" and "yes" mean yes. Ctrl-C and the end of the input mean no. */
export async function confirm(host: CliHost, question: string): Promise<boolean> {
  const answer = await ask(host, `${question} [y/N] `, false);
  return /^y(es)?$/i.test(answer.trim());
}

/** Asks for a secret; nothing that is typed is shown. Ctrl-C and the end of the input give "". */
export async function askSecret(host: CliHost, question: string): Promise<string> {
  return (await ask(host, question, true)).trim();
}

/** Everything that stdin holds, without the line end. */
export async function readAll(host: CliHost): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of host.stdin) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString('utf8').trim();
}

function ask(host: CliHost, question: string, hidden: boolean): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  host.stdout.write(question);
  const lines = createInterface({ input: host.stdin, output: hidden ? nowhere : host.stdout, terminal: hidden, historySize: 0 });
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.on('close', () => {
      if (hidden) host.stdout.write('\n');
      resolve('');
    });
    lines.on('SIGINT', () => lines.close());
  });
}
