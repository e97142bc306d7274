import type { Engine, TurnEvent } from '../../kernel/index.ts';
import type { ServerEvent } from '../http/contract.ts';
import type { AskDesk } from './ask-desk.ts';

/** What happens in one turn after its `trace`, kept from the moment of opening until somebody reads it. */
export interface TurnFeed {
  /** Sends what was kept, then everything as it comes. */
  readInto(send: (event: ServerEvent) => void): void;
  /** Length of all text of the turn that has passed, in UTF-16 units. */
  readonly textLength: number;
  /** Stops listening; whoever opened a feed closes it. Calling it again does nothing. */
  close(): void;
}

/**
 * Listens to a turn, also before it is accepted.
 *
 * @param mask  hides secrets in names of tools, which models make up; what a model says is never altered
 * @param asks  given when the reader can answer questions of the turn
 */
export function openTurnFeed(turnId: string, engine: Engine, mask: (text: string) => string, asks: AskDesk | undefined): TurnFeed {
  const kept: ServerEvent[] = [];
  let textLength = 0;
  let send = (event: ServerEvent): void => void kept.push(event);

  const unwatch = engine.watch(turnId, (event) => {
    if (event.type === 'trace') return;
    if (event.type === 'token') textLength += event.delta.length;
    send(serverEvent(event, mask));
  });
  const leave = asks?.listen(turnId, (question) => send({ event: 'ask', data: question }));

  return {
    get textLength() {
      return textLength;
    },
    readInto(reader) {
      for (const event of kept.splice(0)) reader(event);
      send = reader;
    },
    close() {
      leave?.();
      void unwatch();
    },
  };
}

function serverEvent({ type, ...data }: TurnEvent, mask: (text: string) => string): ServerEvent {
  return { event: type, data: 'name' in data ? { ...data, name: mask(data.name) } : data };
}
