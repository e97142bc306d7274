/** Ends of field names whose values are secret, as the source of a case-insensitive regular expression. */
export const SECRET_NAME =
  'pass(?:word|wd|phrase)|pwd|secret|token|(?:api|access|private|secret|encrypt|encryption|master|signing)[_-]?key|credentials?';

const ENDS_SECRET = new RegExp(`(?:${SECRET_NAME})$`, 'i');

/** Whether a field of this name holds a secret: "password", "client_secret", "apiKey", "x-api-key"; not "max_tokens" or "key". */
export function isSecretName(name: string): boolean {
  return ENDS_SECRET.test(name);
}
