/** Heads of tar entries (POSIX.1-2001: ustar, with a pax record for what does not fit), so that any tar program can look into a backup. */

/** What stands in front of an entry's content. */
export interface TarHead {
  /** Relative, with "/"; without one at the end. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link';
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of content; 0 for everything but files. */
  readonly size: number;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
  /** Where a link points; "" for everything else. */
  readonly target: string;
}

/** Everything in a tar file begins at a multiple of this. */
export const BLOCK = 512;

const FLAGS = { file: '0', directory: '5', link: '2' } as const;
const TYPES: Readonly<Record<string, TarHead['type']>> = { '0': 'file', '5': 'directory', '2': 'link' };
const MAX_OCTAL_SIZE = 0o77777777777;

/** The bytes in front of an entry's content. */
export function encodeHead(head: TarHead): Buffer {
  const records = [
    ...(fits(head.path) ? [] : [record('path', head.path)]),
    ...(fits(head.target) ? [] : [record('linkpath', head.target)]),
    ...(head.size <= MAX_OCTAL_SIZE ? [] : [record('size', String(head.size))]),
  ];
  const own = ustar({ ...head, path: asAscii(head.path), target: asAscii(head.target) }, FLAGS[head.type]);
  if (records.length === 0) return own;
  const extra = Buffer.from(records.join(''), 'utf8');
  const extraHead = ustar({ path: 'pax', type: 'file', mode: 0o600, size: extra.length, modifiedAt: head.modifiedAt, target: '' }, 'x');
  return Buffer.concat([extraHead, extra, padding(extra.length), own]);
}

/** The zeros that fill the last block of `size` bytes. */
export const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** The end of every tar file. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** A head as it was read; `pax` when it is an extra record for the entry behind it. Undefined for a block that is no head. */
export function decodeHead(block: Buffer): (TarHead & { readonly pax: boolean }) | undefined {
  if (block.toString('latin1', 257, 262) !== 'ustar' || octal(block, 148, 8) !== checksum(block)) return undefined;
  const flag = block.toString('latin1', 156, 157);
  const type = flag === 'x' ? 'file' : TYPES[flag];
  const size = octal(block, 124, 12);
  if (type === undefined || !Number.isSafeInteger(size)) return undefined;
  return {
    path: text(block, 0, 100).replace(/\/$/, ''),
    type,
    mode: octal(block, 100, 8) & 0o777,
    size,
    modifiedAt: octal(block, 136, 12) * 1000,
    target: text(block, 157, 100),
    pax: flag === 'x',
  };
}

/** The keys and values of an extra record. Undefined for one that is malformed. */
export function decodePax(content: Buffer): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const [whole, length, key] = /^(\d+) ([^=]+)=/.exec(content.toString('utf8', at, at + 64)) ?? [];
    const end = at + Number(length);
    if (whole === undefined || key === undefined || end > content.length || end <= at + whole.length || content[end - 1] !== 0x0a)
      return undefined;
    found.set(key, content.toString('utf8', at + whole.length, end - 1));
    at = end;
  }
  return found;
}

function ustar({ path, type, mode, size, modifiedAt, target }: TarHead, flag: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(type === 'directory' ? `${path}/` : path, 0, 100, 'latin1');
  block.write(`${mode.toString(8).padStart(7, '0')}\0`, 100, 'latin1');
  block.write('0000000\0', 108, 'latin1');
  block.write('0000000\0', 116, 'latin1');
  block.write(`${Math.min(size, MAX_OCTAL_SIZE).toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  block.write(
    `${Math.max(0, Math.floor(modifiedAt / 1000))
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
    'latin1',
  );
  block.write(flag, 156, 'latin1');
  block.write(target, 157, 100, 'latin1');
  block.write('ustar\0', 257, 'latin1');
  block.write('00', 263, 'latin1');
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** The sum of all bytes, those of the sum itself taken for blanks. */
function checksum(block: Buffer): number {
  let sum = 8 * 0x20;
  for (const [index, byte] of block.entries()) if (index < 148 || index >= 156) sum += byte;
  return sum;
}

/** One byte is left for the "/" of a directory. */
const fits = (value: string): boolean => /^[\x20-\x7e]*$/.test(value) && value.length < 100;
const asAscii = (value: string): string => (fits(value) ? value : value.replace(/[^\x20-\x7e]/g, '_').slice(0, 99));
const text = (block: Buffer, at: number, length: number): string => block.toString('latin1', at, at + length).replace(/\0.*$/s, '');
const octal = (block: Buffer, at: number, length: number): number => Number.parseInt(text(block, at, length).trim() || '0', 8);

/** "<length> <key>=<value>\n", where the length counts itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const length = [1, 2, 3, 4, 5, 6].map((digits) => rest + digits).find((total) => String(total).length === total - rest) ?? rest;
  return `${length} ${key}=${value}\n`;
}
