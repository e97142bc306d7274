/** Finds what a plugin opened in its setup and did not close: a timer, a server, a child process that no `ctx.own` undoes. */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import type { Plugin } from '../../kernel/index.ts';

/** Label of the effect that looks for what was left open. */
export const LEFTOVERS = 'look for what is left open';

/** What was told to close needs a moment. */
const CLOSING_MS = 500;

type AnyContext = Parameters<Plugin['setup']>[0];

/** What a life of a plugin opened; kept weakly, since being collected is a way to be gone. */
type Opened = { readonly what: string; readonly resource: WeakRef<object> }[];

const KINDS: ReadonlyMap<string, string> = new Map([
  ['Timeout', 'timer'],
  ['TCPSERVERWRAP', 'server'],
  ['PIPESERVERWRAP', 'server'],
  ['TCPWRAP', 'socket'],
  ['UDPWRAP', 'socket'],
  ['PROCESSWRAP', 'child process'],
  ['FSEVENTWRAP', 'file watcher'],
  ['STATWATCHER', 'file watcher'],
  ['WORKER', 'worker'],
]);

const life = new AsyncLocalStorage<Opened>();
/** Told of every timer and handle of the process, so it is on only while a setup runs. */
const hook = createHook({
  init(_id, type, _trigger, resource) {
    const what = KINDS.get(type);
    if (what !== undefined) life.getStore()?.push({ what, resource: new WeakRef(resource) });
  },
});
let running = 0;

/**
 * Sets a plugin up and, when it has closed, tells what it opened in its setup and has left open: "timer", "server". Says nothing when there is
 * nothing. Settles as `setup` does.
 */
export async function notingLeftovers(ctx: AnyContext, setup: Plugin['setup'], tell: (open: readonly string[]) => void): Promise<void> {
  let stillOpen = (): readonly string[] => [];
  const look = (): void => {
    const open = stillOpen();
    if (open.length > 0) tell(open);
  };
  // The first effect is the last one to be undone: what is open after that stays open.
  ctx.own(LEFTOVERS, () => void ctx.clock.after(CLOSING_MS, look));
  stillOpen = await notingOpened(async () => setup(ctx));
}

/** Notes what is opened until `setup` has ended. The result names, when called, what of it is still open: "timer", "server". */
async function notingOpened(setup: () => Promise<void>): Promise<() => readonly string[]> {
  const opened: Opened = [];
  running += 1;
  hook.enable();
  try {
    await life.run(opened, setup);
  } finally {
    running -= 1;
    if (running === 0) hook.disable();
  }
  return () => opened.flatMap(({ what, resource }) => (isOpen(resource.deref()) ? [what] : []));
}

/** Node tells of a timer whether it is over; a handle is open while it, or the object around it, is among the active ones. */
function isOpen(resource: object | undefined): boolean {
  if (resource === undefined) return false;
  if ('_destroyed' in resource) return resource._destroyed !== true;
  const { _getActiveHandles: active } = process as unknown as { _getActiveHandles?: () => readonly { readonly _handle?: unknown }[] };
  return active?.().some((handle) => handle === resource || handle._handle === resource) ?? false;
}
