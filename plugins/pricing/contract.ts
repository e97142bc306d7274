/** What model calls cost. */
import type { Named, Usage } from '../../kernel/index.ts';

/** Knows prices. The service `pricing`, and at the same time an item of the extension point `pricing` for those who can do without it. */
export interface Pricing extends Named {
  /**
   * Cost of a call in millionths of the currency unit, a whole number. Null when no price is known for the model, or when the provider did not
   * report how many tokens went in and came out.
   */
  costMicros(provider: string, model: string, usage: Usage | undefined): number | null;
}

declare module '../../kernel/index.ts' {
  interface Extensions {
    pricing: Pricing;
  }
  interface Services {
    pricing: Pricing;
  }
}
