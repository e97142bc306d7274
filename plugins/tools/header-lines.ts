/** Headers as a model writes them: an object, or lines of `Name: value`. */
import { HttpProblem, printable } from '../outside/contract.ts';

const MAX_SHOWN = 100;

/** The headers by name; a name that is given twice has its values joined. Throws HttpProblem that names the line or header at fault. */
export function headersFrom(given: unknown): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  if (typeof given === 'string') return fromLines(given);
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(given as Readonly<Record<string, unknown>>)) {
    if (typeof value !== 'string') throw new HttpProblem(`Bad arguments for http_request: headers.${shown(name)} must be a string`);
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

function fromLines(text: string): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    if (colon < 1) throw new HttpProblem(`Bad arguments for http_request: headers has a line that is not "Name: value": ${shown(line)}`);
    const [name, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

const shown = (text: string): string => printable(text).slice(0, MAX_SHOWN);
