import { definePlugin } from '../../kernel/index.ts';
import '../workspace/contract.ts';
import type { Secrets } from './contract.ts';
import { type Keys, loadKeys } from './key-files.ts';
import { hintOf } from './masked.ts';
import { Masker } from './masker.ts';
import { openValue, sealValue } from './sealed-value.ts';

/** Encrypts secrets at rest, hides them in what people and logs see, and offers both as the service `secrets`. */
export default definePlugin({
  name: 'secrets',
  requires: ['workspace'],
  config: {
    type: 'object',
    properties: {
      masterKey: {
        type: 'string',
        default: '',
        description: '32 bytes in base64, from ORYXOS_MASTER_KEY; the program sets it. Empty: use the key file.',
      },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const keys = await loadKeys(ctx.services.workspace, ctx.config.masterKey, ctx.log);
    const masker = new Masker();
    for (const { bytes } of keys.all) ctx.own('master key in the masker', masker.remember(bytes.toString('base64')));
    ctx.provide('secrets', secretsWith(keys, masker));
  },
});

function secretsWith(keys: Keys, masker: Masker): Secrets {
  return {
    seal(plain, place) {
      const sealed = sealValue(plain, place, keys.all[0]);
      keys.markUsed();
      masker.see(plain);
      return sealed;
    },
    open(sealed, place) {
      const plain = openValue(sealed, place, keys.all);
      masker.see(plain);
      return plain;
    },
    remember: (value) => masker.remember(value),
    mask: (text) => masker.mask(text),
    hint: hintOf,
  };
}
