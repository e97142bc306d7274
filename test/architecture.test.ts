/** The rules of the house, as sentences that break. */
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { packageRoot } from '../config/package-root.ts';

interface Source {
  /** Relative to the package, with "/". */
  readonly file: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly imports: readonly string[];
}

const FOLDERS = ['kernel', 'plugins', 'adapters', 'config'];
const sources: readonly Source[] = FOLDERS.flatMap((folder) => filesBelow(join(packageRoot, folder))).map(read);
const inside = (folder: string): readonly Source[] => sources.filter(({ file }) => file.startsWith(`${folder}/`));

/** Which folder or file may import which package. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  tapable: ['kernel/hook-slot.ts'],
  ajv: ['kernel/schema.ts'],
  'ajv-formats': ['kernel/schema.ts'],
  re2js: ['kernel/schema.ts', 'plugins/tools/'],
  koa: ['plugins/http/'],
  '@koa/router': ['plugins/http/'],
  'koa-body': ['plugins/http/'],
  'better-sqlite3': ['plugins/store/'],
  umzug: ['plugins/store/'],
  chokidar: ['plugins/watch/'],
  'gray-matter': ['plugins/agents/front-matter.ts'],
  yaml: ['plugins/agents/', 'plugins/loader/'],
  winston: ['plugins/logging/'],
  openai: ['adapters/provider/sdk-transport.ts'],
  'prom-client': ['plugins/metrics/'],
  execa: ['plugins/outside/child.ts'],
  shlex: ['plugins/tools/command-line.ts'],
  'swagger-ui-dist': ['plugins/openapi/'],
  undici: ['plugins/outside/registered-', 'plugins/outside/http'],
  cron: ['plugins/schedules/'],
  'ipaddr.js': ['plugins/sandbox/address-kind.ts'],
  htmlparser2: ['plugins/tools/page-text.ts'],
  defuddle: ['plugins/tools/article-reader.ts'],
  linkedom: ['plugins/tools/article-reader.ts'],
};

/** Files that are one noun and longer than the house likes. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'plugins/engine/embedded-engine.ts': 'the life of a turn, from acceptance to its end, is read in one piece',
};

describe('the architecture', () => {
  it('lets the kernel import nothing but Node, tapable and ajv', () => {
    report(inside('kernel'), (source) =>
      source.imports.filter((name) => !name.startsWith('node:') && !isOwn(source, name, 'kernel/') && !doorOpen(source, name)),
    );
  });

  it('lets adapters import the kernel, what they share, and their own vendor only', () => {
    report(inside('adapters'), (source) => {
      const own = `${source.file.split('/').slice(0, 2).join('/')}/`;
      return source.imports.filter(
        (name) =>
          !name.startsWith('node:') &&
          !isOwn(source, name, own) &&
          !isOwn(source, name, 'adapters/shared/') &&
          !isKernel(source, name) &&
          !doorOpen(source, name),
      );
    });
  });

  it('lets a plugin import the kernel, its own folder, and other plugins through their contract only', () => {
    report(inside('plugins'), (source) => {
      const own = `${source.file.split('/').slice(0, 2).join('/')}/`;
      return source.imports.filter((name) => {
        if (name.startsWith('node:') || isOwn(source, name, own) || isKernel(source, name)) return false;
        if (name.startsWith('.')) return !/^plugins\/[a-z]+\/contract\.ts$/.test(target(source, name));
        return !doorOpen(source, name);
      });
    });
  });

  it('opens each package in one place', () => {
    report(sources, (source) =>
      source.imports.filter((name) => !name.startsWith('.') && !name.startsWith('node:') && !doorOpen(source, name)),
    );
  });

  it('keeps SQL in repositories, migrations and the store', () => {
    const allowed = (file: string): boolean => /(-repository|migrations)\.ts$/.test(file) || file.startsWith('plugins/store/');
    report(inside('plugins'), ({ file, lines }) =>
      allowed(file) ? [] : lines.filter((line) => /['"`]\s*(SELECT|INSERT|UPDATE|DELETE FROM|CREATE (TABLE|INDEX))\s/.test(line)),
    );
  });

  it('takes the time from the injected clock', () => {
    const pattern = /\b(Date\.now\(|new Date\(\)|performance\.now\(|setTimeout\(|setInterval\()/;
    report([...inside('kernel'), ...inside('plugins')], ({ file, lines }) =>
      file === 'kernel/clock.ts' ? [] : lines.filter((line) => pattern.test(line) && !/^\s*(\*|\/\/)/.test(line)),
    );
  });

  it('lets tools reach files, network and processes through the service outside only', () => {
    const doors = ['node:fs', 'node:fs/promises', 'node:http', 'node:https', 'node:net', 'node:child_process', 'node:dns'];
    report(inside('plugins/tools'), ({ imports }) => imports.filter((name) => doors.includes(name)));
  });

  it('starts programs in the service outside only, and for the report about this machine', () => {
    const doors = ['plugins/outside/', 'adapters/cli/doctor-machine.ts'];
    report(sources, ({ file, imports }) =>
      doors.some((door) => file.startsWith(door)) ? [] : imports.filter((name) => name === 'node:child_process'),
    );
  });

  it('calls no global fetch', () => {
    report(sources, ({ lines }) => lines.filter((line) => /(?<![.\w])fetch\(/.test(line) && !/^\s*(\*|\/\/)/.test(line)));
  });

  it('has a contract comment on everything that is exported', () => {
    report(sources, ({ file, lines }) => (file.endsWith('/index.ts') ? [] : undocumented(lines)));
  });

  it('has no file over 250 lines without a reason', () => {
    report(sources, ({ file, lines }) => (lines.length > 250 && !(file in LONG_FILES) ? [`${lines.length} lines`] : []));
  });

  it('keeps the mechanism of the kernel under 2 500 lines of code', () => {
    const code = inside('kernel')
      .filter(({ file }) => !file.startsWith('kernel/contract/'))
      .flatMap(({ lines }) => lines.filter((line) => line.trim() !== '' && !/^\s*(\*|\/\*|\/\/)/.test(line)));
    expect(code.length).to.be.at.most(2500);
  });

  it('has a README of at most 40 lines in every plugin folder', () => {
    const folders = readdirSync(join(packageRoot, 'plugins'));
    const wrong = folders.filter((folder) => {
      const readme = join(packageRoot, 'plugins', folder, 'README.md');
      const limit = folder === 'tools' ? 120 : 40;
      return !existsSync(readme) || readFileSync(readme, 'utf8').split('\n').length > limit;
    });
    expect(wrong).to.deep.equal([]);
  });

  it('speaks only of itself: no numbers of documents that do not travel with it', () => {
    const pattern = /\b(decisions? \d|issue \d|§ ?\d|security\.md|runtime\.md|outside\.md|TODO|FIXME)/i;
    report(sources, ({ lines }) => lines.filter((line) => pattern.test(line)));
  });
});

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'web' ? [] : filesBelow(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

function read(path: string): Source {
  const text = readFileSync(path, 'utf8');
  const imports = [...text.matchAll(/^\s*(?:import|export)\s[^;]*?\sfrom\s+'([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)];
  return {
    file: relative(packageRoot, path).replaceAll('\\', '/'),
    text,
    lines: text.split('\n'),
    imports: imports.map((match) => match[1] ?? match[2] ?? match[3] ?? ''),
  };
}

/** Fails with every offence, each with its file. */
function report(files: readonly Source[], offences: (source: Source) => readonly string[]): void {
  expect(files.flatMap((source) => offences(source).map((offence) => `${source.file}: ${offence.trim()}`))).to.deep.equal([]);
}

const target = (source: Source, name: string): string =>
  relative(packageRoot, join(packageRoot, dirname(source.file), name)).replaceAll('\\', '/');
const isOwn = (source: Source, name: string, folder: string): boolean => name.startsWith('.') && target(source, name).startsWith(folder);
const isKernel = (source: Source, name: string): boolean => name.startsWith('.') && target(source, name) === 'kernel/index.ts';

function doorOpen(source: Source, name: string): boolean {
  const vendor = name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? name);
  return (DOORS[vendor] ?? []).some((door) => source.file.startsWith(door));
}

/** Exported declarations without a comment that ends right above them. */
function undocumented(lines: readonly string[]): readonly string[] {
  return lines.filter((line, index) => {
    if (!/^export (default )?(async )?(function|class|interface|type|const) /.test(line)) return false;
    if (/^export type \{|^export type Migration\b/.test(line)) return false;
    const before = lines.slice(0, index).findLast((text) => text.trim() !== '') ?? '';
    const sameKind = /^export (type|const) /.test(before);
    return !before.trim().endsWith('*/') && !before.startsWith('export type') && !sameKind;
  });
}
