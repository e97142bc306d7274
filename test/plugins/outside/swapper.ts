/** A process that swaps files and directories for links to the outside, as fast as it can. Arguments: allowed directory, outside directory. */
import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [allowed = '', outside = ''] = process.argv.slice(2);
const at = (name: string): string => join(allowed, name);

mkdirSync(at('sub/deep'), { recursive: true });
writeFileSync(at('sub/secret.txt'), 'in');
writeFileSync(at('sub/deep/secret.txt'), 'in');
writeFileSync(at('race'), 'in');
process.stdout.write('ready\n');

for (;;) {
  symlinkSync(join(outside, 'secret.txt'), at('race.tmp'));
  renameSync(at('race.tmp'), at('race'));
  renameSync(at('sub'), at('sub.real'));
  symlinkSync(outside, at('sub'));
  writeFileSync(at('race.tmp'), 'in');
  renameSync(at('race.tmp'), at('race'));
  unlinkSync(at('sub'));
  renameSync(at('sub.real'), at('sub'));
}
