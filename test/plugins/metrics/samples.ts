/** What a metrics text says. */

/** Values by series, e.g. `oryxos_runs_total{origin="invoke",outcome="completed"}`. Throws for a line that is not of the text format. */
export function samplesIn(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  const types = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment) {
      if (comment[1] === 'TYPE') types.add(comment[2] ?? '');
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\]|\\.)*",?)*\})? (\S+)$/.exec(line);
    if (!sample) throw new Error(`not a line of the text format: ${line}`);
    const name = sample[1] ?? '';
    if (![name, name.replace(/_(bucket|sum|count)$/, '')].some((each) => types.has(each))) throw new Error(`${name} has no type`);
    const series = name + (sample[2] ?? '');
    if (samples.has(series)) throw new Error(`${series} is there twice`);
    samples.set(series, Number(sample[3]));
  }
  return samples;
}

/** The sum over all series of a metric whose labels contain `part`. */
export function sumOf(samples: ReadonlyMap<string, number>, name: string, part = ''): number {
  const series = [...samples].filter(([key]) => key.startsWith(`${name}{`) && key.includes(part));
  return series.reduce((sum, [, value]) => sum + value, 0);
}
