import { expect } from 'chai';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import { httpCases, runHttpCase } from './http-runner.ts';

const directory = process.env['ATTACKS_DIR'] ?? join(packageRoot, '../shared/attacks');
const cases = await httpCases(directory);
/** What a case needs that is not built yet. */
const WAITING: Readonly<Record<string, string>> = { 'http-notify-ssrf': 'notify' };

describe('the HTTP attacks', function () {
  this.timeout(90_000);

  if (cases === undefined) {
    it(`(skipped: no corpus in ${directory})`);
    return;
  }
  for (const one of cases) {
    const missing = WAITING[one.id];
    if (missing !== undefined) {
      it(`${one.id} (waiting: ${missing})`);
      continue;
    }
    it(`${one.id}: ${one.title} (${one.level})`, async () => {
      expect(await runHttpCase(one)).to.deep.equal([]);
    });
  }
});
