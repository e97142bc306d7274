import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../../config/package-root.ts';
import { builtInPlugins } from '../../../config/plugins.ts';
import { canonical } from '../../../plugins/loader/key-path.ts';
import { keyTable } from '../../../plugins/loader/key-table.ts';

const text = readFileSync(join(packageRoot, 'config/application.yml'), 'utf8');
const table = new Map(keyTable(builtInPlugins).map((key) => [key.path, key.schema]));

/** Leaves of a map by canonical path; what is a key of the table is a leaf. */
function leaves(map: object, prefix = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(map).flatMap(([key, value]: [string, unknown]) => {
    const path = prefix + canonical(key);
    const isLeaf = table.has(path) || typeof value !== 'object' || value === null || Array.isArray(value);
    return isLeaf ? [[path, value] as const] : leaves(value, `${path}.`);
  });
}

describe('config/application.yml', () => {
  it('shows every key that the plugins know, with its default, and no other', () => {
    const shown = Object.fromEntries(leaves(parse(text) as object));
    const known = Object.fromEntries([...table].map(([path, schema]) => [path, schema['default']]));
    expect(shown).to.deep.equal(known);
  });

  it('explains what it shows', () => {
    const lines = text.split('\n');
    const comments = lines.filter((line) => /^ +# /.test(line));
    expect(comments.length).to.be.greaterThan(table.size - 5);
  });
});
