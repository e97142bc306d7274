/** What tests of plugins write. Compiled against the built package by types.test.ts. */
import { definePlugin, isOryxError } from 'oryxos';
import { agentFile, fakeClock, type HostOptions, scriptedModel, startHost, until } from 'oryxos/testing';

const plugin = definePlugin({ name: 'x', setup: () => undefined });

/** A test, as one would write it with any runner. */
export async function example(): Promise<void> {
  const options: HostOptions = {
    plugins: [plugin],
    agents: { a: agentFile('a', 'tools: [x]') },
    config: { 'oryxos.max-runs': 2 },
    clock: fakeClock(),
  };
  await using host = await startHost(options);
  host.model.willCall('x', { a: 1 });
  host.model.willSay('done');
  const outcome = await host.say('a', 'go', (event) => void event.type);
  outcome.reply satisfies string;
  if (outcome.error && isOryxError(outcome.error)) outcome.error.status satisfies number;
  const { status, data } = await host.request('GET', '/api/v1/plugins');
  status satisfies number;
  void data;
  await until('the end', () => host.model.requests.length === 2);
  await host.kernel.unload('x');
  // @ts-expect-error a model says texts
  host.model.willSay(1);
  // @ts-expect-error a plugin is what definePlugin returns
  await startHost({ plugins: [{ name: 'x' }] });
  scriptedModel().adapter.name satisfies string;
}
