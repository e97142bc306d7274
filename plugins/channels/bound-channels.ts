import type { Profile } from '../../kernel/index.ts';

/** The registered channels of that kind from which an agent takes messages: `channels: [{name: <kind>, channel: <registered channel>}]`. */
export function boundChannels({ frontmatter }: Profile, kind: string): readonly string[] {
  const entries: unknown = frontmatter['channels'];
  if (!Array.isArray(entries)) return [];
  const names = entries.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { name, channel } = entry as Readonly<Record<string, unknown>>;
    return name === kind && typeof channel === 'string' && channel !== '' ? [channel] : [];
  });
  return [...new Set(names)];
}
