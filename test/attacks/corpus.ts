/** The attack corpus: cases as data, kept outside of this package. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';

/** One case. What its words mean stands in the README of the corpus. */
export interface AttackCase {
  readonly id: string;
  readonly area: string;
  readonly title: string;
  /** `must` gates, `should` is reported. */
  readonly level: 'must' | 'should';
  /** A legitimate use that must keep working. */
  readonly control: boolean;
  readonly setup: Readonly<Record<string, unknown>>;
  readonly input: AttackInput | readonly AttackInput[];
  readonly expect: Expectation;
}

/** One thing that is done. The other properties depend on the kind. */
export type AttackInput = { readonly kind: string } & Readonly<Record<string, unknown>>;

/** What has to be true afterwards. */
export type Expectation = { readonly outcome?: string } & Readonly<Record<string, unknown>>;

/** Thrown when a case uses a word or a feature that does not exist here yet. The message names it. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
}

/** Thrown when this machine cannot run the case; the message tells why. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}

/** Resolves with everything in which the product differs from what the case expects. Throws Unsupported and CannotRun. */
export type RunCase = (testCase: AttackCase) => Promise<readonly string[]>;

/** Where the corpus is: ATTACKS_DIR, or beside the package. */
export const corpusDirectory = process.env['ATTACKS_DIR'] ?? join(packageRoot, '../shared/attacks');

/** All cases, undefined when the corpus is not at hand. */
export function loadCorpus(directory = corpusDirectory): readonly AttackCase[] | undefined {
  if (!existsSync(directory)) return undefined;
  const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
  return files.sort().flatMap((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as AttackCase[]);
}

/** One thing or a list of things, as a list. */
export const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];
