import type { Clock, Store } from '../../kernel/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import type { NewRule, Rule } from './rule.ts';
import { ruleAdded, ruleRemoved } from './rule-repository.ts';

/** The rules in force: kept in the database, judged from memory. A change counts from the moment it is durable. */
export class RuleBook {
  readonly #store: Store;
  readonly #clock: Clock;
  #rules: readonly Rule[];

  /** @param rules  everything that stands in the database */
  constructor(store: Store, clock: Clock, rules: readonly Rule[]) {
    this.#store = store;
    this.#clock = clock;
    this.#rules = rules;
  }

  /** Oldest first. */
  get rules(): readonly Rule[] {
    return this.#rules;
  }

  /** Throws ORYX_CONFLICT when an equal rule stands already; rejects as `Store.write` does. */
  async add(rule: NewRule, createdBy: string): Promise<Rule> {
    const createdAt = this.#clock.now();
    const [result] = await this.#store.write(ruleAdded(rule, createdBy, createdAt));
    if (result?.changes !== 1) throw conflict(`the rule ${rule.ruleType} ${rule.pattern}${forAgent(rule)} exists already`);
    const added: Rule = { ...rule, id: result.lastInsertRowid, createdAt, createdBy };
    this.#rules = [...this.#rules, added].sort((a, b) => a.id - b.id);
    return added;
  }

  /** Throws ORYX_NOT_FOUND when there is no such rule; rejects as `Store.write` does. */
  async remove(id: number): Promise<void> {
    const known = this.#rules.some((rule) => rule.id === id);
    const [result] = known ? await this.#store.write(ruleRemoved(id)) : [];
    if (result?.changes !== 1) throw notFound(`there is no tool policy rule #${id}`);
    this.#rules = this.#rules.filter((rule) => rule.id !== id);
  }
}

const forAgent = ({ agentName }: NewRule): string => (agentName === null ? '' : ` for agent "${agentName}"`);
