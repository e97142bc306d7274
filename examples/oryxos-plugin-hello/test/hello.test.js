// @ts-check
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentFile, startHost } from 'oryxos/testing';
import hello from '../index.js';

const agents = { host: agentFile('host', 'tools: [greet_from_list]\nsettings: {on_fatal_tool_error: feedback}') };

/** What the model was told when it called the tool. @param {import('oryxos/testing').TestHost} host @param {string} path */
async function toldAbout(host, path) {
  host.model.willCall('greet_from_list', { path });
  host.model.willSay('done');
  await host.say('host', 'welcome them');
  return host.model.requests.at(-1)?.messages.at(-1)?.content ?? '';
}

/** A host on which the plugin runs, as an administrator would configure it. @param {Record<string, unknown>} [config] */
async function started(config) {
  const host = await startHost({ agents });
  const { state, error } = await host.kernel.load(hello, config);
  assert.equal(state, 'active', error?.message);
  await writeFile(join(host.root, 'guests.txt'), 'Ada\nGrace\n');
  return host;
}

test('an agent greets everybody in a file', async () => {
  const host = await started({ greeting: 'Welcome' });
  try {
    assert.equal(await toldAbout(host, join(host.root, 'guests.txt')), 'Welcome, Ada!\nWelcome, Grace!');
    assert.match(await toldAbout(host, join(host.root, 'nobody.txt')), /cannot be read/);
  } finally {
    await host.stop();
  }
});

test('the sandbox refuses a file outside of the whitelist, because the tool claims what it reads', async () => {
  const host = await started();
  try {
    assert.match(await toldAbout(host, '/etc/passwd'), /"\/etc\/passwd" is not on the file whitelist/);
  } finally {
    await host.stop();
  }
});

test('calls that mention somebody who wants to be left alone are refused', async () => {
  const host = await started({ doNotGreet: ['Guests'] });
  try {
    assert.match(await toldAbout(host, join(host.root, 'guests.txt')), /Guests wants to be left alone/);
  } finally {
    await host.stop();
  }
});

test('the route greets, and refuses what its schemas do not allow', async () => {
  const host = await started();
  try {
    const { data } = await host.request('GET', '/api/v1/hello/Ada?times=2');
    assert.deepEqual(data, { text: 'Hello, Ada! Hello, Ada!' });
    assert.equal((await host.request('GET', '/api/v1/hello/Ada?times=9')).status, 400);
    assert.equal((await host.request('GET', '/api/v1/hello/%20')).status, 400);
  } finally {
    await host.stop();
  }
});

test('a channel of the type hello posts greetings, and says what the greeter refuses', async () => {
  /** @type {unknown[]} */
  const greetings = [];
  const greeter = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    greetings.push(JSON.parse(body));
    response.writeHead(greetings.length === 1 ? 204 : 403).end();
  }).listen(0, '127.0.0.1');
  await once(greeter, 'listening');
  const address = greeter.address();
  assert.ok(address !== null && typeof address === 'object');
  const host = await started();
  try {
    const channel = { name: 'greeter', type: 'hello', url: `http://127.0.0.1:${address.port}/` };
    assert.equal((await host.request('POST', '/api/v1/notify-channels', channel)).status, 200);
    const sent = await host.request('POST', '/api/v1/notify-channels/greeter/test', { content: 'Hello, Ada!' });
    assert.equal(sent.data.state, 'delivered');
    const refused = await host.request('POST', '/api/v1/notify-channels/greeter/test', { content: 'Hello, Grace!' });
    assert.equal(refused.data.state, 'failed');
    assert.match(refused.data.error, /the greeter answered 403/);
    assert.deepEqual(greetings, [{ greeting: 'Hello, Ada!' }, { greeting: 'Hello, Grace!' }]);
  } finally {
    await host.stop();
    greeter.closeAllConnections();
    greeter.close();
  }
});

test('a setting with a wrong name is refused and named', async () => {
  const host = await startHost();
  try {
    const { state, error } = await host.kernel.load(hello, { greting: 'Hi' });
    assert.equal(state, 'failed');
    assert.match(error?.message ?? '', /greting/);
  } finally {
    await host.stop();
  }
});
