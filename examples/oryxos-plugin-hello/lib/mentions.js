// @ts-check

/**
 * Whether a name stands somewhere in the arguments of a call, as a text of its own or inside of one; capitals do not matter.
 *
 * @param {unknown} value
 * @param {string} name
 * @returns {boolean}
 */
export function mentions(value, name) {
  if (typeof value === 'string') return value.toLowerCase().includes(name.toLowerCase());
  return typeof value === 'object' && value !== null && Object.values(value).some((member) => mentions(member, name));
}
