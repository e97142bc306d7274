/** Talking to agents: what other plugins need of it. */

/** Lets a tool ask the person at the other end of a turn. */
export interface Asks {
  /**
   * Asks and waits for the answer, at most 5 minutes.
   *
   * @returns the answer, or undefined when nobody can answer, the time is over or the listener left
   */
  ask(turnId: string, question: string, signal: AbortSignal): Promise<string | undefined>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    asks: Asks;
  }
}
