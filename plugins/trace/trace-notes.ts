import type { JsonSchema, Logger, ReadonlyRegistry } from '../../kernel/index.ts';
import type { TraceNote } from './contract.ts';
import { timelineSchema } from './timeline.ts';

/** The schema of a timeline with the lists that plugins add. */
export function notedTimelineSchema(notes: readonly TraceNote[]): JsonSchema {
  const lists = notes.map(({ name, item }) => [name, { type: 'array', items: item }] as const);
  return { ...timelineSchema, properties: { ...Object.fromEntries(lists), ...timelineSchema.properties } };
}

/** The lists that plugins add to the timeline of a run. An empty one is left out, and so is, with a line in the log, one that cannot be read. */
export async function notesOf(
  traceId: string,
  notes: ReadonlyRegistry<TraceNote>,
  log: Logger,
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const lists = await Promise.all(
    notes.list().map(async ({ name }) => {
      try {
        const list = await notes.use(name, `trace note ${name}`, (note) => note.of(traceId));
        return list === undefined || list.length === 0 ? [] : [[name, list] as const];
      } catch (error) {
        log.warn('a note about a run cannot be read', { note: name, traceId, error });
        return [];
      }
    }),
  );
  return Object.fromEntries(lists.flat());
}
