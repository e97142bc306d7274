import { expect } from 'chai';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import { findIsolation } from '../../plugins/outside/isolation.ts';
import { runShellCase, shellCases } from './shell-runner.ts';

const directory = process.env['ATTACKS_DIR'] ?? join(packageRoot, '../shared/attacks');
const cases = await shellCases(directory);
const { status } = await findIsolation('auto');

describe('the SHELL attacks', function () {
  this.timeout(30_000);

  if (cases === undefined) {
    it(`(skipped: no corpus in ${directory})`);
    return;
  }
  for (const one of cases) {
    if (one.id === 'shell-toctou-approval') continue;
    if (one.setup.requires === 'bubblewrap' && !status.isolated) {
      it(`${one.id} (skipped: ${status.warning})`);
      continue;
    }
    it(`${one.id}: ${one.title} (${one.level})`, async () => {
      expect(await runShellCase(one)).to.deep.equal([]);
    });
  }
});
