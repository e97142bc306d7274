/** Secrets at rest and in sight. */
export { isSecretName } from './secret-name.ts';

/** Where a secret is stored; part of what is authenticated, so a ciphertext cannot be moved to another row. */
export interface SecretPlace {
  readonly table: string;
  readonly key: string;
  readonly column: string;
}

/** Encryption and masking. */
export interface Secrets {
  /** "enc:v1:…". Throws ORYX_INVALID_INPUT for a value that already looks encrypted. */
  seal(plain: string, place: SecretPlace): string;
  /** Throws ORYX_SECRET_KEY for a value that was tampered with, moved, or sealed with another key. A value without prefix is returned as it is (older plain text). */
  open(sealed: string, place: SecretPlace): string;
  /** Makes the masker hide this exact value (6 characters or more) until disposed. What `seal` and `open` have seen is hidden without it. */
  remember(value: string): () => void;
  /**
   * Hides secrets in a text that people or logs will see: known values and well-known shapes. The first 4 characters stay, followed by `****`;
   * a value of 8 characters or fewer becomes `****`. Linear time. Mask first, cut after.
   */
  mask(text: string): string;
  /** `****` + the last 4, `****` alone for 4 characters or fewer, null for none. */
  hint(value: string | null | undefined): string | null;
}

declare module '../../kernel/index.ts' {
  interface Services {
    secrets: Secrets;
  }
}
