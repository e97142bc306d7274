/** Model providers as administrators see them. Callable ones stand in the extension point `provider`. */

export { checkedName } from './provider-name.ts';

/** A provider as the API shows it. */
export interface ProviderView {
  readonly name: string;
  /** `****` + last 4, or null for none; plain only with `oryxos.web.reveal-api-keys`. */
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly description: string | null;
}

/** The service `providers`: what exists and what a new agent should use. Calls go through the extension point `provider`. */
export interface Providers {
  /** Sorted by name; `mock` is always among them. */
  list(): readonly ProviderView[];
  /**
   * Provider and model for a new agent: the author's provider or else the first by name that is not `mock` and can be called, with the author
   * model; `mock` when there is no such provider or no author model.
   */
  defaults(): { readonly provider: string; readonly model: string };
  /** True when an agent can name this provider, whichever plugin brings it. */
  has(name: string): boolean;
}

declare module '../../kernel/index.ts' {
  interface Services {
    providers: Providers;
  }
}
