import { expect } from 'chai';
import * as fc from 'fast-check';
import type { ToolRun } from '../../../kernel/index.ts';
import { jsonExtractTool } from '../../../plugins/tools/json-extract.ts';

const tool = jsonExtractTool();
const extract = (json: string, path: string) => tool.execute({ json, path }, {} as ToolRun);

describe('json_extract', () => {
  const json =
    '{ "data": {"items": [ {"name": "a\\nb", "id": 12345678901234567890, "ok" : true, "none": null, "list":[1, 2 ,3]} ], "a.b": 1, "e": {} },\n "x": -1.50e+3, "名": "值" }';

  const found: readonly (readonly [string, string])[] = [
    ['data.items[0].name', 'a\nb'],
    ['data.items[0].id', '12345678901234567890'],
    ['data.items[0].ok', 'true'],
    ['data.items[0].none', 'null'],
    ['data.items[0].list', '[1,2,3]'],
    ['data.items[0].list[2]', '3'],
    ['data.items.0.list.1', '2'],
    ['data.e', '{}'],
    ['x', '-1.50e+3'],
    ['名', '值'],
    ['$.x', '-1.50e+3'],
    ['$.data.e', '{}'],
  ];
  for (const [path, content] of found) {
    it(`finds ${path}`, async () => expect(await extract(json, path)).to.deep.equal({ success: true, content }));
  }

  it('gives the whole document, compact, for an empty path and for "$"', async () => {
    const whole = '{"a":[1,"b c",{"d":"e \\" f"}]}';
    for (const path of ['', '$', '  ']) {
      expect(await extract(' { "a" : [ 1 , "b c",\n\t{ "d": "e \\" f" } ] }\r\n', path)).to.deep.equal({ success: true, content: whole });
    }
    expect(await extract('[["x", "y"]]', '$[0][1]')).to.deep.equal({ success: true, content: 'y' });
    expect(await extract('"text"', '')).to.deep.equal({ success: true, content: 'text' });
  });

  const missing = ['nothing', 'data.items[1]', 'data.items.name', 'x.y', 'x[0]', 'data[0]', '$x', 'data.items[0].name.length', 'data.a.b'];
  for (const path of missing) {
    it(`says that there is no ${path}`, async () =>
      expect(await extract(json, path)).to.deep.equal({ success: true, content: `(path not found: ${path})` }));
  }

  it('sees own members only', async () => {
    for (const path of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__proto__.polluted']) {
      expect(await extract('{"a":1}', path)).to.deep.equal({ success: true, content: `(path not found: ${path})` });
    }
    expect(await extract('{"__proto__": {"polluted": "mine"}}', '__proto__.polluted')).to.deep.equal({ success: true, content: 'mine' });
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
  });

  const bad = ['a..b', 'a.', 'a[', 'a[x]', 'a[-1]', 'a]b', '[', 'a[*]', Array.from({ length: 101 }, () => 'a').join('.')];
  for (const path of bad) {
    it(`calls the path ${path.slice(0, 12)} bad, and says what a good one is`, async () => {
      const result = await extract(json, path);
      expect(result).to.include({ success: false, retryable: true });
      expect(!result.success && result.errorMessage).to.match(/^Bad path: .*data\.items\[0\]\.name/s);
    });
  }

  it('calls broken JSON broken', async () => {
    for (const text of ['', '{', "{'a':1}", '{"a":1,}', 'undefined', '{"a":01}', '[1] x']) {
      const result = await extract(text, 'a');
      expect(result).to.include({ success: false, retryable: true });
      expect(!result.success && result.errorMessage).to.match(/^Not valid JSON/);
    }
  });

  it('survives deep nesting and long texts', async function () {
    this.timeout(10_000);
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect((await extract(deep, '[0][0][0]')).success).to.equal(true);
    const long = JSON.stringify({ a: '\\"'.repeat(1_000_000), b: ' '.repeat(1_000_000), c: 'end' });
    expect(await extract(long, 'c')).to.deep.equal({ success: true, content: 'end' });
  });

  it('agrees with JSON.parse about every value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.array(fc.nat(3), { maxLength: 4 }), fc.nat(3), async (value, choices, indent) => {
        let expected: unknown = value;
        let path = '$';
        for (const choice of choices) {
          if (typeof expected !== 'object' || expected === null) break;
          const keys = Object.keys(expected).filter((key) => Array.isArray(expected) || (/^[^.[\]]+$/.test(key) && key === key.trim()));
          const key = keys[choice % Math.max(1, keys.length)];
          if (key === undefined) break;
          path += Array.isArray(expected) ? `[${key}]` : `.${key}`;
          expected = (expected as Record<string, unknown>)[key];
        }
        const result = await extract(JSON.stringify(value, null, indent), path);
        expect(result).to.deep.equal({ success: true, content: typeof expected === 'string' ? expected : JSON.stringify(expected) });
      }),
      { numRuns: 500 },
    );
  });

  it('takes the last of two members with the same name, as JSON.parse does', async () => {
    expect(await extract('{"a": 1, "\\u0061": 2}', 'a')).to.deep.equal({ success: true, content: '2' });
  });
});
