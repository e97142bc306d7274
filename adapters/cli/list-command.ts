/** Commands that fetch a list and print it as a table or as JSON. */
import { defineCommand } from './args.ts';
import type { Args, Command, Options } from './args.ts';
import { withConnection } from './connection.ts';
import type { Columns } from './output.ts';
import { lineText } from './text.ts';

/** `--json`, which every list has. */
export const jsonOption = { json: { kind: 'flag', help: 'print JSON' } } as const satisfies Options;

/** Declares `<name> [--json]` over one GET endpoint; `none` is printed for an empty list. */
export function listCommand<Row, const O extends Options = {}>(list: {
  readonly name: string;
  readonly summary: string;
  readonly options?: O;
  path(args: Args<{}, O>): string;
  readonly columns: Columns<Row>;
  readonly none: string;
  /** One line below the table. */
  readonly footnote?: (rows: readonly Row[]) => string | undefined;
}): Command {
  return defineCommand({
    name: list.name,
    summary: list.summary,
    options: { ...list.options, ...jsonOption },
    run: (args, cli) =>
      withConnection(args, cli, async ({ client }) => {
        const rows = await client.get<readonly Row[]>(list.path(args as unknown as Args<{}, O>));
        if (args.json) return cli.out.json(rows);
        if (rows.length === 0) return cli.out.line(list.none);
        cli.out.table(rows, list.columns);
        const footnote = list.footnote?.(rows);
        if (footnote !== undefined) cli.out.line(`\n${lineText(footnote)}`);
      }),
  });
}
