// @ts-check
/** Greets people: a tool for agents, a route for everybody else, a type of channel, and a guard for those who want to be left alone. */
import { definePlugin, refuse } from 'oryxos';
import { greetTool } from './lib/greet-tool.js';
import { helloAdapter } from './lib/hello-adapter.js';
import { helloRoute } from './lib/hello-route.js';
import { mentions } from './lib/mentions.js';

export default definePlugin({
  name: 'oryxos-plugin-hello',
  config: {
    type: 'object',
    properties: {
      greeting: { type: 'string', minLength: 1, default: 'Hello', description: 'What everybody is greeted with.' },
      doNotGreet: {
        type: 'array',
        items: { type: 'string' },
        default: [],
        description: 'Tool calls that mention one of these names are refused.',
      },
    },
    additionalProperties: false,
  },
  setup(ctx) {
    const { greeting, doNotGreet } = ctx.config;

    ctx.register('tool', greetTool(greeting));
    ctx.register('route', helloRoute(greeting));
    ctx.register('notifyAdapter', helloAdapter());

    // Asked before each tool call, whoever the tool belongs to. No answer means no objection; if it throws, the call is refused.
    ctx.tap('beforeToolCall', ({ input }) => {
      const name = doNotGreet.find((each) => mentions(input, each));
      return name === undefined
        ? undefined
        : refuse(ctx.name, `${name} wants to be left alone (doNotGreet in the configuration of ${ctx.name})`);
    });
  },
});
