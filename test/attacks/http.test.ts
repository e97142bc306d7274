import { expect } from 'chai';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import type { AttackCase } from './corpus.ts';
import { httpCases, runHttpCase } from './http-runner.ts';
import { notifyHttpCases } from './notify-cases.ts';

const directory = process.env['ATTACKS_DIR'] ?? join(packageRoot, '../shared/attacks');
const cases = await httpCases(directory);

describe('the HTTP attacks', function () {
  this.timeout(90_000);

  if (cases === undefined) {
    it(`(skipped: no corpus in ${directory})`);
    return;
  }
  for (const one of cases) {
    const own = notifyHttpCases[one.id];
    it(`${one.id}: ${one.title} (${one.level})`, async () => {
      expect(await (own ? own(one as unknown as AttackCase) : runHttpCase(one))).to.deep.equal([]);
    });
  }
});
