import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../config/package-root.ts';
import { declaredPackage } from '../types/declared-package.ts';

const { apiPage } = (await import(pathToFileURL(join(packageRoot, 'scripts/api-page.mjs')).href)) as {
  readonly apiPage: (directory: string) => string;
};

describe('docs/api.md', function () {
  this.timeout(60_000);
  let page = '';
  before(async () => {
    page = apiPage(await declaredPackage());
  });

  it('is current: "npm run build && node scripts/api-page.mjs" makes it so', async () => {
    expect(await readFile(join(packageRoot, 'docs/api.md'), 'utf8')).to.equal(page);
  });

  it('shows everything that oryxos, oryxos/http, oryxos/outside and oryxos/testing export, with what the sources say about it', () => {
    for (const name of [
      'definePlugin',
      'defineTool',
      'Context',
      'Hooks',
      'Tool',
      'OryxError',
      'defineRoute',
      'Route',
      'Files',
      'FileProblem',
      'HttpAnswer',
      'Processes',
      'urlClaim',
      'startHost',
      'until',
    ])
      expect(page).to.include(`\n#### ${name}\n`);
    const undocumented = page
      .split(/^#### /m)
      .slice(1)
      .filter((part) => /^\w+\n+```/.test(part));
    expect(undocumented.map((part) => part.split('\n', 1)[0])).to.deep.equal([]);
    expect(page.replaceAll(/```ts\n[^]*?```/g, '')).not.to.match(/@param|@returns|@throws|@example|\{@link/);
  });
});
