/** The real client for registered URLs, on a clock of the test's own. */
import type { Disposer } from '../../kernel/index.ts';
import type { RegisteredHttp } from '../../plugins/outside/contract.ts';
import type { Lookup } from '../../plugins/outside/registered-dialer.ts';
import { createRegisteredHttp } from '../../plugins/outside/registered-http.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';

/** A client and the clock that its deadlines follow. */
export interface Outgoing extends AsyncDisposable {
  readonly http: RegisteredHttp;
  readonly clock: FakeClock;
}

/** A client that nobody has used yet. @param lookup  how names become addresses; the system's resolver by default */
export function outgoing(lookup?: Lookup): Outgoing {
  const clock = fakeClock();
  const undo: Disposer[] = [];
  const own = (_label: string, disposer: Disposer): Disposer => {
    undo.push(disposer);
    return disposer;
  };
  return {
    http: createRegisteredHttp({ clock, own }, lookup),
    clock,
    async [Symbol.asyncDispose]() {
      for (const disposer of undo) await disposer();
    },
  };
}
