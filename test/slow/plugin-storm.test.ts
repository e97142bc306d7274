/** The long form of the storm over third-party plugins. */
import { pluginStorm } from '../plugins/loader/plugin-storm.ts';

describe('50 loads and unloads and 200 edits of third-party plugins under 20 runs at once', () => {
  it('let no call pass unguarded, use nothing after its close, lose no observation and leave nothing behind', async () => {
    await pluginStorm({ loads: 50, edits: 200, workers: 20 });
  });
});
