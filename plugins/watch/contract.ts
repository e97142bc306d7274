/** Hints that something changed on disk. Hints may be late, doubled or missing: content decides, and `reconcile` finds the rest. */
import type { Disposer } from '../../kernel/index.ts';

/** What to watch, and whom to tell. */
export interface WatchRequest {
  /** Absolute directory; it is created when missing. */
  readonly directory: string;
  /** How many levels below it are of interest; 0 means its direct entries. */
  readonly depth: number;
  /** Paths that matter, relative to the directory with "/" between segments. Everything else is not watched. */
  readonly matches: (relativePath: string, isDirectory: boolean) => boolean;
  /** Called with the relative path of a file that may have changed, appeared or gone. */
  readonly onHint: (relativePath: string) => void;
  /** Called at least every 30 s and after an overflow: compare everything. */
  readonly onReconcile: () => void;
}

/** Watches directories. */
export interface Watch {
  /** Starts watching; resolves when changes from now on are seen. */
  watch(request: WatchRequest): Promise<Disposer>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    watch: Watch;
  }
}
