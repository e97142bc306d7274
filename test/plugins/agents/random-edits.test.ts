import { expect } from 'chai';
import { mkdir, readdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentFile, startHost, until } from '../../harness/index.ts';

const EDITS = 1000;
const NAMES = Array.from({ length: 12 }, (_, index) => `r${index}`);

/** A small generator (mulberry32), so that a failing run can be repeated: SEED=<n>. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe('a thousand random edits, renames and deletions on disk', () => {
  const seed = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31));

  it(`end in exactly what is on disk, and nobody misses an agent that is there (SEED=${seed})`, async function () {
    this.timeout(60_000);
    const pick = random(seed);
    await using host = await startHost({ agents: { steady: agentFile('steady') } });
    const root = join(host.root, 'agents');
    const path = (name: string): string => join(root, name, 'AGENT.md');
    const one = (): string => NAMES[pick(NAMES.length)] ?? '';
    const text = (name: string, edit: number): string => agentFile(name, `description: e${edit}`);
    const edits: ((edit: number) => Promise<unknown>)[] = [
      (edit) => host.write(`agents/r${edit % 12}/AGENT.md`, text(`r${edit % 12}`, edit)),
      async (edit) => {
        const name = one();
        await mkdir(join(root, name), { recursive: true });
        await writeFile(`${path(name)}.new`, text(name, edit));
        await rename(`${path(name)}.new`, path(name));
      },
      (edit) => writeFile(path(one()), edit % 2 === 0 ? 'broken' : text(one(), edit)),
      () => rename(join(root, one()), join(root, one())),
      () => rm(join(root, one()), { recursive: true, force: true }),
      () => unlink(path(one())),
      (edit) => {
        const name = one();
        return host.request('PUT', `/api/v1/agents/${name}`, { agentMarkdown: text(name, edit) });
      },
      () => host.request('DELETE', `/api/v1/agents/${one()}`),
    ];

    const missed = new Set<number>();
    for (let edit = 0; edit < EDITS; edit += 1) {
      // Renaming over a directory and writing into one that is not there fail as they would for a person.
      await edits[pick(edits.length)]?.(edit).catch(() => undefined);
      if (edit % 10 === 0) await writeFile(path('steady'), text('steady', edit));
      if (host.kernel.service('profiles').current('steady') === undefined) missed.add(edit);
      if (pick(20) === 0) await new Promise((resolve) => setTimeout(resolve, pick(30)));
    }
    expect([...missed]).to.deep.equal([]);

    await until('the server shows what is on disk', async () => (await shown()) === (await onDisk()), 10_000).catch(async () => {
      expect(await shown()).to.equal(await onDisk());
    });

    async function shown(): Promise<string> {
      const { data } = await host.request('GET', '/api/v1/agents');
      const lines = (data as { name: string; status: string; description: string | null }[]).map(({ name, status, description }) =>
        status === 'ok' ? `${name} ${description}` : `${name} invalid`,
      );
      return lines.join('\n');
    }
    async function onDisk(): Promise<string> {
      const lines: string[] = [];
      for (const name of (await readdir(root)).sort()) {
        const content = await readFile(path(name), 'utf8').catch(() => undefined);
        if (content === undefined) continue;
        const valid = content.includes(`name: ${name}\n`);
        lines.push(valid ? `${name} ${/description: (.*)/.exec(content)?.[1] ?? null}` : `${name} invalid`);
      }
      return lines.join('\n');
    }
  });
});
