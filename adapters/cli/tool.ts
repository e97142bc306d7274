/** `oryxos tool …` */
import { listCommand } from './list-command.ts';
import type { ToolView } from './views.ts';

/** Which tools there are is up to the plugins of the running server, or else of this installation. */
export const toolCommands = [
  listCommand<ToolView>({
    name: 'tool list',
    summary: 'List the tools that agents may declare',
    path: () => '/api/v1/tools',
    columns: { NAME: (row) => row.name, DESCRIPTION: (row) => row.description },
    none: 'No tools.',
  }),
];
