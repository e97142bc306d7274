import { storeContract } from '../../contract/store.ts';
import { openStore, temporaryRoot } from './open-store.ts';

describe('store', () => {
  storeContract(async () => {
    const { root, remove } = await temporaryRoot();
    const host = await openStore(root);
    return {
      store: host.store,
      async close() {
        await host.close();
        await remove();
      },
    };
  });
});
