/** What a child process sees of the world: nothing of the server's environment but what is named here. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { PROGRAM_PATH } from './program.ts';
import type { IsStray } from './strays.ts';

/** Names of the marks by which a child is found again, however far it has gone. */
const INSTANCE_MARK = 'ORYXOS_INSTANCE';
const CALL_MARK = 'ORYXOS_CALL_ID';
/** Tells the children of this server process from those of an earlier one of the same workspace. */
const PROCESS_ID = randomUUID();

/** A new id for the children of one call. */
export const newCallId = (): string => `${PROCESS_ID}/${randomUUID()}`;

/** Finds the processes that belong to the same call as a child with this environment. */
export const isFromCall = (env: Readonly<Record<string, string>>): IsStray => {
  const mark = `${CALL_MARK}=${env[CALL_MARK]}`;
  return (environment) => environment.includes(mark);
};

/** Finds the processes of a workspace that an earlier server process has left behind. */
export const isLeftBehind = (instanceId: string): IsStray => {
  const mark = `${INSTANCE_MARK}=${instanceId}`;
  const own = `${CALL_MARK}=${PROCESS_ID}/`;
  return (environment) => environment.includes(mark) && !environment.some((variable) => variable.startsWith(own));
};

/** What the environment of one child is made from. */
export interface ChildIdentity {
  readonly home: string;
  readonly instanceId: string;
  readonly callId: string;
  readonly executable: string;
}

/** git reads configuration of the machine and of the user, asks on a terminal, and starts a pager. None of that is wanted. */
const GIT = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat' };

/**
 * The whole environment of a child, frozen.
 *
 * @param passed  variables that the administrator passes through; those of ours win over them
 */
export function childEnvironment(
  { home, instanceId, callId, executable }: ChildIdentity,
  passed: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.freeze({
    LANG: 'C.UTF-8',
    TZ: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...passed,
    ...(basename(executable) === 'git' && GIT),
    PATH: PROGRAM_PATH.join(':'),
    HOME: home,
    TMPDIR: '/tmp',
    [CALL_MARK]: callId,
    [INSTANCE_MARK]: instanceId,
  });
}

/** Variables that are ours or hold the server's secrets: they are never passed through. */
export const isOwnVariable = (name: string): boolean => name.toUpperCase().startsWith('ORYXOS_');

/** The named variables of this process that are set. */
export function passedThrough(names: readonly string[]): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined && !isOwnVariable(name)) passed[name] = value;
  }
  return passed;
}
