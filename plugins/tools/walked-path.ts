/** What walking tools say about files and about what they left out. */
import { printable } from '../outside/contract.ts';
import type { WalkCut } from '../outside/contract.ts';

/** At most so many results are shown. */
export const MAX_RESULTS = 200;

const CUTS: Readonly<Record<WalkCut, string>> = {
  entries: 'not everything was searched: there are more than 50000 entries; name a directory further down',
  time: 'not everything was searched: the time of 10 s was over; name a directory further down',
  depth: 'directories more than 64 levels down were not searched',
};

/** A file that a walk came to, named so that the other tools find it: below the path as it was given. */
export function shownPath(given: string, relative: string): string {
  if (relative === '') return printable(given);
  if (given === '.') return printable(relative);
  return printable(given.endsWith('/') ? given + relative : `${given}/${relative}`);
}

/** One line in brackets for each thing that was left out. */
export const cutNotes = (cuts: readonly WalkCut[]): readonly string[] => cuts.map((cut) => `(${CUTS[cut]})`);
