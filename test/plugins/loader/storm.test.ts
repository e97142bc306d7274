/** Plugins come, go and change on the disk while agents work. */
import { pluginStorm } from './plugin-storm.ts';

describe('a storm of loads, unloads and edits of third-party plugins under 20 runs at once', () => {
  it('lets no call pass unguarded, uses nothing after its close, loses no observation and leaves nothing behind', async function () {
    this.timeout(60_000);
    await pluginStorm({ loads: 3, edits: 12, workers: 20 });
  });
});
