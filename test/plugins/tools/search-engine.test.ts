import { expect } from 'chai';
import { searchEngine } from '../../../plugins/tools/search-engine.ts';
import type { SearchSettings } from '../../../plugins/tools/search-engine.ts';

const engine = (provider: SearchSettings['provider'], baseUrl = '', apiKey = 'key-1') => searchEngine({ provider, baseUrl, apiKey });

describe('the search services', () => {
  it('are asked at their own address, or at the one that is configured', () => {
    const url = (provider: SearchSettings['provider'], baseUrl = ''): string => engine(provider, baseUrl).call('a b', 8).url;
    expect(url('duckduckgo')).to.match(/^https:\/\/api\.duckduckgo\.com\/\?q=a\+b&format=json&no_html=1/);
    expect(url('brave')).to.equal('https://api.search.brave.com/res/v1/web/search?q=a+b&count=8');
    expect(url('tavily')).to.equal('https://api.tavily.com/search');
    for (const base of ['https://sx.test', 'https://sx.test/', 'https://sx.test/search']) {
      expect(url('searxng', base)).to.equal('https://sx.test/search?q=a+b&format=json');
    }
  });

  it('get the key in a header, never in the URL', () => {
    expect(engine('brave').call('q', 8).headers).to.include({ 'x-subscription-token': 'key-1' });
    const call = engine('tavily').call('q', 8);
    expect(call.headers).to.include({ authorization: 'Bearer key-1' });
    expect(call).to.include({ method: 'POST', body: '{"query":"q","max_results":8}' });
  });

  it('say what is missing in the configuration', () => {
    expect(engine('searxng').problem).to.include('web_search.base-url');
    expect(engine('brave', '', '').problem).to.include('web_search.api-key');
    expect(engine('tavily', '', '').problem).to.include('web_search.api-key');
    expect(engine('duckduckgo', 'nonsense').problem).to.include('not a valid URL');
    expect(engine('duckduckgo', '', '').problem).to.equal(undefined);
  });

  it('have their hits where each of them puts them', () => {
    const hit = { title: 'T', url: 'https://r.test/', snippet: 'S' };
    expect(engine('searxng', 'https://x.test').hits({ results: [{ title: 'T', url: 'https://r.test/', content: 'S' }] })).to.deep.equal([
      hit,
    ]);
    expect(engine('tavily').hits({ results: [{ title: 'T', url: 'https://r.test/', content: 'S' }] })).to.deep.equal([hit]);
    expect(engine('brave').hits({ web: { results: [{ title: 'T', url: 'https://r.test/', description: 'S' }] } })).to.deep.equal([hit]);
    const answer = {
      Heading: 'H',
      AbstractURL: 'https://a.test/',
      AbstractText: 'about',
      Results: [{ Text: 'Official', FirstURL: 'https://o.test/' }],
      RelatedTopics: [
        { Text: 'T - S - more', FirstURL: 'https://r.test/' },
        { Name: 'Group', Topics: [{ Text: 'G', FirstURL: 'https://g.test/' }] },
      ],
    };
    expect(
      engine('duckduckgo')
        .hits(answer)
        .map(({ title, url, snippet }) => [title, url, snippet]),
    ).to.deep.equal([
      ['H', 'https://a.test/', 'about'],
      ['Official', 'https://o.test/', ''],
      ['T', 'https://r.test/', 'S - more'],
      ['G', 'https://g.test/', ''],
    ]);
  });

  it('leave out what is no hit, whatever the answer looks like', () => {
    for (const answer of [
      undefined,
      null,
      1,
      'x',
      [],
      {},
      { results: 1 },
      { results: [null, 1, 'x', {}, { title: 1, url: 2 }, { title: 'T', url: 'ftp://x' }] },
    ]) {
      for (const provider of ['duckduckgo', 'searxng', 'brave', 'tavily'] as const) {
        expect(engine(provider, 'https://x.test').hits(answer)).to.deep.equal([]);
      }
    }
  });
});
