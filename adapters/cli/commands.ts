/** Every command, in the order of the help text. */
import type { Command } from './args.ts';
import { chatCommand } from './chat.ts';
import { initCommand } from './init.ts';
import { profileCommands } from './profile.ts';
import { providerCommands } from './provider.ts';
import { runCommands } from './run.ts';
import { serveCommand } from './serve.ts';
import { sessionCommands } from './session.ts';
import { statusCommand } from './status.ts';
import { toolCommands } from './tool.ts';

export const commands: readonly Command[] = [
  initCommand,
  serveCommand,
  chatCommand,
  statusCommand,
  ...profileCommands,
  ...providerCommands,
  ...sessionCommands,
  ...toolCommands,
  ...runCommands,
];
