/** A process that swaps files and directories for links to the outside, as fast as it can. Arguments: allowed directory, outside directory. */
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [allowed = '', outside = ''] = process.argv.slice(2);
const at = (name: string): string => join(allowed, name);

fill();
writeFileSync(at('race'), 'in');
process.stdout.write('ready\n');

for (;;) {
  symlinkSync(join(outside, 'secret.txt'), at('race.tmp'));
  renameSync(at('race.tmp'), at('race'));
  // The other side makes missing directories anew, so that each of these may find something in its way.
  attempt(() => rmSync(at('sub.real'), { recursive: true, force: true }));
  attempt(() => renameSync(at('sub'), at('sub.real')));
  attempt(() => symlinkSync(outside, at('sub')));
  writeFileSync(at('race.tmp'), 'in');
  renameSync(at('race.tmp'), at('race'));
  attempt(() => unlinkSync(at('sub')));
  attempt(() => renameSync(at('sub.real'), at('sub')));
  attempt(fill);
}

/** Never through a link: what is outside is for the other side to leave alone. */
function fill(): void {
  if (lstatSync(at('sub'), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  mkdirSync(at('sub/deep'), { recursive: true });
  writeFileSync(at('sub/secret.txt'), 'in');
  writeFileSync(at('sub/deep/secret.txt'), 'in');
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The next round tries again.
  }
}
