import { expect } from 'chai';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Moved, openByDescriptor, openByPath } from '../../../plugins/outside/open-directory.ts';
import { bench, rejection } from './bench.ts';

const ways = { 'by descriptor': openByDescriptor, 'by path': openByPath };

for (const [way, openDirectory] of Object.entries(ways)) {
  describe(`a directory opened ${way}`, () => {
    before(function () {
      if (way === 'by descriptor' && process.platform !== 'linux') this.skip();
    });

    it('is refused when its path leads elsewhere by now', async () => {
      await using b = await bench();
      await mkdir(join(b.allowed, 'sub/deep'), { recursive: true });
      await rename(join(b.allowed, 'sub'), join(b.allowed, 'gone'));
      await mkdir(join(b.outside, 'deep'));
      await b.link(b.outside, join(b.allowed, 'sub'));
      expect(await rejection(openDirectory(join(b.allowed, 'sub/deep')))).to.be.instanceOf(Moved);
      expect(await rejection(openDirectory(join(b.allowed, 'sub'))))
        .to.have.property('code')
        .that.matches(/ELOOP|ENOTDIR/);
    });

    it('does not enter a link', async () => {
      await using b = await bench();
      await b.link(b.outside, join(b.allowed, 'd'));
      const directory = await openDirectory(b.allowed);
      expect(await rejection(directory.enter('d')))
        .to.have.property('code')
        .that.matches(/ELOOP|ENOTDIR/);
      await directory.close();
    });

    it('notices, or survives, being moved while it is open', async () => {
      await using b = await bench();
      await mkdir(join(b.allowed, 'sub'));
      await writeFile(join(b.allowed, 'sub/f'), 'in');
      const directory = await openDirectory(join(b.allowed, 'sub'));
      await rename(join(b.allowed, 'sub'), join(b.allowed, 'gone'));
      await b.link(b.outside, join(b.allowed, 'sub'));
      await writeFile(join(b.outside, 'f'), 'out');
      if (way === 'by path') expect(await rejection(directory.check())).to.be.instanceOf(Moved);
      if (way === 'by descriptor') expect(readFileSync(directory.at('f'), 'utf8')).to.equal('in');
      await directory.close();
    });

    it('reads, writes and lists', async () => {
      await using b = await bench({ openDirectory });
      await b.write('new/dir/f.txt', 'hello');
      expect(await b.text('new/dir/f.txt')).to.equal('hello');
      expect((await b.files.list('new/dir', b.run(), { max: 9 })).entries).to.deep.equal([{ name: 'f.txt', kind: 'file' }]);
    });
  });
}
