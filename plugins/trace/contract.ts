/** The timeline of a run; other plugins can add what they know about a run. */
import type { JsonSchema, Named } from '../../kernel/index.ts';

/**
 * A list that stands in the timeline of a run beside its steps, unless it is empty. Registered in the extension point `traceNote`.
 *
 * @example
 * ```ts
 * ctx.register('traceNote', {
 *   name: 'letters',
 *   item: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
 *   of: async (traceId) => (await lettersOf(traceId)).map(({ to }) => ({ to })),
 * });
 * ```
 */
export interface TraceNote extends Named {
  /** The key of the list in the timeline; those of the timeline itself are taken. */
  readonly name: string;
  /** Schema of one item of the list. */
  readonly item: JsonSchema;
  /** What is known about a run, as it is shown: secrets are masked. The timeline does without an empty list and one that cannot be read. */
  of(traceId: string): Promise<readonly unknown[]>;
}

declare module '../../kernel/index.ts' {
  interface Extensions {
    traceNote: TraceNote;
  }
}
