/** A process that alternates a path between what it is and a link to the outside, as fast as it can. Arguments: kind, path, target of the link. */
import { lstatSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';

const [kind = '', path = '', target = ''] = process.argv.slice(2);
const [link, kept] = [`${path}.link`, `${path}.kept`];
process.stdout.write('ready\n');

for (;;) {
  attempt(() => symlinkSync(target, link));
  if (kind === 'directory') {
    attempt(() => renameSync(path, kept));
    attempt(() => renameSync(link, path));
    attempt(() => unlinkSync(path));
    attempt(() => renameSync(kept, path));
    if (!lstatSync(path, { throwIfNoEntry: false })) attempt(() => mkdirSync(path));
  } else {
    attempt(() => renameSync(link, path));
    writeFileSync(kept, 'in');
    renameSync(kept, path);
  }
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The next round tries again.
  }
}
