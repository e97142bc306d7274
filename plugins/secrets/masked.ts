const VISIBLE = 4;
const SHORT = 8;
const MASK = '****';
const IS_MASK = /^.{0,4}\*{4}.{0,4}$/u;

/**
 * The first 4 characters and `****`; `****` alone for 8 characters or fewer. What is a mask already stays as it is. Nothing from a backslash on
 * is shown, as half an escape would break the text around it.
 */
export function masked(secret: string): string {
  if (IS_MASK.test(secret)) return secret;
  if (secret.length <= SHORT) return MASK;
  const [shown = ''] = Array.from(secret.slice(0, VISIBLE * 2))
    .slice(0, VISIBLE)
    .join('')
    .split('\\');
  return shown + MASK;
}

/** `****` and the last 4 characters, `****` alone for 4 or fewer, null for none. */
export function hintOf(secret: string | null | undefined): string | null {
  if (!secret) return null;
  const characters = Array.from(secret);
  return characters.length <= VISIBLE ? MASK : MASK + characters.slice(-VISIBLE).join('');
}
