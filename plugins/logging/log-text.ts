import type { LogLine } from '../../kernel/index.ts';
import { escapeControls } from './escape-controls.ts';
import { type Plain, plainValue } from './plain-value.ts';

type Mask = (text: string) => string;
type Fields = Readonly<Record<string, Plain>>;

const OWN_KEYS = new Set(['timestamp', 'level', 'plugin', 'message', 'traceId']);

/** One line of JSON. Fields stand beside the line's own keys; one of the same name is written as `fields.<name>`. Never throws. */
export function jsonLine(line: LogLine, mask: Mask): string {
  const fields = Object.entries(plainFields(line, mask)).map(([key, value]) => [OWN_KEYS.has(key) ? `fields.${key}` : key, value] as const);
  const entry = {
    timestamp: new Date(line.at).toISOString(),
    level: line.level,
    plugin: line.plugin,
    message: mask(line.message),
    ...(line.traceId !== undefined && { traceId: line.traceId }),
    ...Object.fromEntries(fields),
  };
  return escapeControls(JSON.stringify(entry));
}

/**
 * One line for people: time, level, plugin, message, then `name=value`. Of an error it shows code and messages; the stack only when the error is
 * not one of OryxOS's own, whose code says it all. Never throws.
 */
export function readableLine(line: LogLine, mask: Mask): string {
  const { at, level, plugin, message, traceId } = line;
  const fields = Object.entries({ ...plainFields(line, mask), ...(traceId !== undefined && { traceId }) });
  const texts = fields.map(([name, value]) => `${name}=${readable(value)}`);
  return escapeControls([new Date(at).toISOString(), level.toUpperCase().padEnd(5), `[${plugin}]`, mask(message), ...texts].join(' '));
}

function plainFields({ fields }: LogLine, mask: Mask): Fields {
  return plainValue({ ...fields }, mask) as Fields;
}

function readable(value: Plain): string {
  if (typeof value === 'string') return /^[^\s="\\]+$/.test(value) ? value : JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  return isErrorLike(value) ? JSON.stringify(readableError(value)) : JSON.stringify(value);
}

function isErrorLike(value: object): value is Fields {
  return 'message' in value && 'stack' in value && 'name' in value;
}

function readableError(error: Fields): string {
  const { cause } = error;
  const [name, code, message, stack] = ['name', 'code', 'message', 'stack'].map((key) => textOf(error[key])) as [
    string,
    string,
    string,
    string,
  ];
  const own = `${code || name}: ${message}`;
  if (typeof cause === 'object' && cause !== null && isErrorLike(cause)) return `${own} <- ${readableError(cause)}`;
  return code.startsWith('ORYX_') ? own : `${own} (${frames(stack)})`;
}

function textOf(value: Plain | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The stack without its first lines, which repeat the message. */
function frames(stack: string): string {
  return stack
    .split('\n')
    .filter((frame) => frame.startsWith('    at '))
    .map((frame) => frame.trim())
    .join(', ');
}
