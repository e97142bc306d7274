/** Every command, in the order of the help text. */
import type { Command } from './args.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { chatCommand } from './chat.ts';
import { configCommands } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { initCommand } from './init.ts';
import { notifyCommands } from './notify.ts';
import { pluginCommands } from './plugin.ts';
import { profileCommands } from './profile.ts';
import { providerCommands } from './provider.ts';
import { runCommands } from './run.ts';
import { scheduleCommands } from './schedule.ts';
import { gatewayCommand, serveCommand } from './serve.ts';
import { sessionCommands } from './session.ts';
import { statusCommand } from './status.ts';
import { toolCommands } from './tool.ts';

/** What `parseArgs` and the help text choose from. */
export const commands: readonly Command[] = [
  initCommand,
  serveCommand,
  gatewayCommand,
  chatCommand,
  statusCommand,
  doctorCommand,
  ...profileCommands,
  ...providerCommands,
  ...sessionCommands,
  ...toolCommands,
  ...runCommands,
  ...scheduleCommands,
  ...notifyCommands,
  ...pluginCommands,
  ...configCommands,
  backupCommand,
  restoreCommand,
];
