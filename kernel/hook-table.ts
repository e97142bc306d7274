/** The kind of every hook and, for decisions, the answer that stands for a guard that failed. */
import type { HookName, Hooks } from './contract/index.ts';
import { refuse } from './result.ts';

/** The answer of a decide hook whose tap failed; undefined lets the next tap answer. */
export type ClosedAnswer<H extends HookName> = (plugin: string, problem: string) => Awaited<ReturnType<Hooks[H]>>;

export type HookSpec<H extends HookName = HookName> =
  | { readonly kind: 'observe' | 'transform' | 'collect'; readonly args: readonly string[] }
  | {
      readonly kind: 'decide';
      readonly args: readonly string[];
      readonly closed: ClosedAnswer<H>;
      /** Untyped plugins can answer anything; what is no answer counts as a failure of the tap. */
      readonly isAnswer?: (answer: object) => boolean;
    };

const isRefusal = (answer: object): boolean => isText(answer, 'blockedBy') && isText(answer, 'message');
const isText = (answer: object, name: string): boolean => typeof (answer as Readonly<Record<string, unknown>>)[name] === 'string';

/** Exhaustive: a hook without a row does not compile. */
export const HOOKS: { readonly [H in HookName]: HookSpec<H> } = {
  beforeTurn: { kind: 'observe', args: ['turn'] },
  afterTurn: { kind: 'observe', args: ['turn', 'outcome'] },
  selectTools: { kind: 'transform', args: ['tools', 'turn'] },
  beforeLlmCall: { kind: 'decide', args: ['target', 'turn'], closed: () => undefined },
  onLlmFailure: { kind: 'decide', args: ['attempt', 'turn'], closed: () => undefined },
  afterLlmCall: { kind: 'collect', args: ['rows', 'attempt', 'turn'] },
  beforeToolCall: { kind: 'decide', args: ['call'], closed: refuse, isAnswer: isRefusal },
  onClaim: { kind: 'decide', args: ['claim', 'call'], closed: refuse, isAnswer: isRefusal },
  afterToolCall: { kind: 'collect', args: ['rows', 'call', 'result', 'durationMs'] },
  onSchedule: {
    kind: 'decide',
    args: ['firing'],
    closed: (_plugin, problem) => ({ skip: problem }),
    isAnswer: (answer) => isText(answer, 'skip'),
  },
};
