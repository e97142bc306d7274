/** `oryxos/testing`: a whole host in a temporary workspace, with a model that says what the test tells it to. */
export { fakeClock, type FakeClock } from './fake-clock.ts';
export { type Answer, eventsFrom, type StreamedAnswer, type StreamEvent } from './http-client.ts';
export { type ScriptedAnswer, type ScriptedModel, scriptedModel } from './scripted-model.ts';
export { agentFile, type HostOptions, startHost, type TestHost } from './start-host.ts';
export { until } from './until.ts';
