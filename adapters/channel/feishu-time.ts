/** Times as Feishu writes them: seconds, milliseconds or microseconds since 1970, depending on the event. */

/** Epoch milliseconds, told by the number's size; undefined for what is no time. */
export function epochMs(text: string | undefined): number | undefined {
  const value = Number(text);
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text) || value === 0) return undefined;
  if (value >= 1e14) return Math.floor(value / 1000);
  return value >= 1e11 ? Math.floor(value) : Math.floor(value * 1000);
}
