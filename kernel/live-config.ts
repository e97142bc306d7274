/** Settings that change while a plugin runs. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Plugin } from './contract/index.ts';
import { within } from './deadline.ts';
import { OryxError } from './errors.ts';

/** How long a plugin may take to adapt to a change. */
const ADAPT_TIMEOUT_MS = 5_000;

/** The settings of one life of a plugin, validated and frozen: they are exchanged as a whole. */
export interface LiveConfig {
  current: unknown;
  /** Told after each change. */
  readonly listeners: Set<(config: never) => void | Promise<void>>;
}

/** Rejects with what a listener throws, and with ORYX_PLUGIN_FAILED after 5 s; then the settings before are in effect again, and listeners know it. */
export async function changeConfig(config: LiveConfig, next: unknown, clock: Clock): Promise<void> {
  const before = config.current;
  const take = (value: unknown): Promise<unknown> => {
    config.current = value;
    const told = Promise.all(Array.from(config.listeners, async (listener) => listener(value as never)));
    return within(
      clock,
      ADAPT_TIMEOUT_MS,
      told,
      () => new OryxError('ORYX_PLUGIN_FAILED', 'it did not adapt to changed settings within 5 s'),
    );
  };
  await take(next).catch(async (error: unknown) => {
    await take(before).catch(() => undefined);
    throw error;
  });
}

/** Whether settings differ in nothing but what the plugin takes while it runs. */
export function isLiveChange({ live = [] }: Plugin, before: unknown, next: unknown): boolean {
  const [old, changed] = [before, next] as Readonly<Record<string, unknown>>[];
  return Object.keys({ ...old, ...changed }).every((key) => live.includes(key) || isDeepStrictEqual(old?.[key], changed?.[key]));
}
