/** `oryxos tool …` */
import { listCommand } from './list-command.ts';
import type { ToolView } from './views.ts';

export const toolCommands = [
  listCommand<ToolView>({
    name: 'tool list',
    summary: 'List the tools that agents may declare',
    path: () => '/api/v1/tools',
    columns: { NAME: (row) => row.name, DESCRIPTION: (row) => row.description },
    none: 'No tools.',
  }),
];
