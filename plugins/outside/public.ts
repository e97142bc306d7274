/**
 * What tools need to reach files, programs and the network through the sandbox. Importable by plugins as `oryxos/outside`. A plugin that names
 * `outside` in `requires` gets the service as `ctx.services.outside`; it has exactly that judged which it then uses.
 */
export { accessOf, addressesOf, FileProblem, givenPath, HttpProblem, printable, ProcessProblem, urlClaim } from './contract.ts';
export type {
  Command,
  CommandEnd,
  CommandOutcome,
  Confinement,
  ConfinementView,
  DirectoryEntry,
  Files,
  FileStat,
  Http,
  HttpAnswer,
  HttpCall,
  HttpMethod,
  IsolationStatus,
  Outside,
  Processes,
  RegisteredHttp,
  Walk,
  WalkCut,
  WalkedFile,
} from './contract.ts';
