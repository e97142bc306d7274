/** Model providers as administrators see them. Callable ones stand in the extension point `provider`. */

export interface ProviderView {
  readonly name: string;
  /** `****` + last 4, or null for none; plain only with `oryxos.web.reveal-api-keys`. */
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly description: string | null;
}

export interface Providers {
  list(): readonly ProviderView[];
  /** The provider and model for a new agent: the first that is not `mock` with the author model, else `mock`. */
  defaults(): { readonly provider: string; readonly model: string };
  /** The author model, `oryxos.author`; undefined model when none is configured. */
  has(name: string): boolean;
}

declare module '../../kernel/index.ts' {
  interface Services {
    providers: Providers;
  }
}
