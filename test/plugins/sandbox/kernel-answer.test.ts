/** What the guard allows, held against the word of the kernel, which shares no parser with it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, defineTool, ok } from '../../../kernel/index.ts';
import { agentFile } from '../../harness/index.ts';
import { toolbox } from '../tools/toolbox.ts';

/** Where the kernel is after opening a path; undefined for what it does not open. */
function openedAt(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

const PRIVATE = /^(oryxos\.(db|lock)|server\.json|master\.key|application\.ya?ml|mcp_servers\.ya?ml|logs|backups|\.instance)/;

describe('what the sandbox allows', function () {
  this.timeout(120_000);

  it('lies inside the list when the kernel opens it, for random trees of links and random paths', async function () {
    if (process.platform !== 'linux') this.skip();
    const verdicts = new Map<string, boolean>();
    const probe = defineTool({
      name: 'probe',
      description: 'Asks the guards about paths.',
      input: { type: 'object', properties: { paths: { type: 'array', items: { type: 'string' } } }, required: ['paths'] } as const,
      async execute({ paths }, run) {
        for (const path of paths) verdicts.set(path, await run.permits({ kind: 'file', value: path, access: 'read' }));
        return ok('asked');
      },
    });
    const plugin = definePlugin({ name: 'prober', setup: (ctx) => void ctx.register('tool', probe) });
    await using box = await toolbox({ plugins: [plugin], agents: { p1: agentFile('p1', 'tools: [probe]') } });
    const home = join(box.root, 'agents/p1');
    const names = ['a', 'a', 'b', 'l', 'm', 'ok.txt', 'secret.txt', 'allowed', 'outside', '..', '.', ''];
    const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
    const inWorkspace = fc
      .array(fc.constantFrom('..', 'l', 'agents', 'a1', 'p1', 'master.key', 'oryxos.db', 'logs', 'AGENT.md', 'AGENTS.md'), {
        minLength: 1,
        maxLength: 5,
      })
      .map((parts) => parts.join('/'));
    const asked = fc.oneof(
      path.map((given) => `${box.allowed}/${given}`),
      path.map((given) => `${box.allowed}-evil/${given}`),
      path.map((given) => `l/${given}`),
      inWorkspace,
      fc.constantFrom(
        'AGENT.md',
        'l',
        '../a1/AGENT.md',
        ...['a/b/ok.txt', 'l/ok.txt', 'm', 'b/ok.txt'].map((given) => `${box.allowed}/${given}`),
      ),
      fc.constantFrom('/proc/self/environ', '/proc/self/root/etc/passwd', '/dev/null', '/etc/passwd', `${box.root}//master.key`),
    );
    const target = fc.oneof(
      path,
      path.map((given) => `${box.top}/${given}`),
      fc.constantFrom('/', '/proc/self', '/etc', box.root, `${box.root}/master.key`),
    );
    const links = fc.array(fc.tuple(fc.constantFrom('l', 'm', 'a/l', 'a/m', 'b', 'a/b/l'), target), { maxLength: 6 });
    await mkdir(`${box.allowed}-evil`);
    await writeFile(`${box.allowed}-evil/ok.txt`, 'EVIL');
    let [allowed, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(links, target, fc.array(asked, { minLength: 20, maxLength: 40 }), async (made, homeLink, paths) => {
        await rm(box.allowed, { recursive: true });
        await mkdir(join(box.allowed, 'a/b'), { recursive: true });
        for (const directory of ['', 'a', 'a/b']) await writeFile(join(box.allowed, directory, 'ok.txt'), 'OK');
        await rm(join(home, 'l'), { force: true });
        await symlink(homeLink || '.', join(home, 'l'));
        for (const [name, to] of made) await symlink(to, join(box.allowed, name)).catch(() => undefined);
        verdicts.clear();
        box.host.model.willCall('probe', { paths });
        const { error } = await box.host.say('p1', 'go');
        expect(error).to.equal(undefined);
        for (const [given, isAllowed] of verdicts) {
          const real = openedAt(given.startsWith('/') ? given : `${home}/${given}`);
          if (real === undefined) continue;
          if (!isAllowed) refused += 1;
          if (!isAllowed) continue;
          allowed += 1;
          const inside = [box.allowed, box.root].find((root) => real === root || real.startsWith(`${root}/`));
          expect(inside, `${given} was allowed and is ${real}`).to.not.equal(undefined);
          if (inside === box.root) expect(real.slice(box.root.length + 1), given).to.not.match(PRIVATE);
        }
      }),
      { numRuns: 80 },
    );
    expect(allowed, 'allowed and opened').to.be.greaterThan(100);
    expect(refused, 'refused although the kernel opens it').to.be.greaterThan(100);
  });
});
