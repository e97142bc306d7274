/**
 * Mocha's `spec` report, and the numbers as JSON in the file that ORYXOS_TEST_STATS names. A test process that does not end by itself has
 * left something open: after a moment it is ended, and the run has failed.
 */
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

const GRACE_MS = 15_000;

module.exports = class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats;
      if (process.env.ORYXOS_TEST_STATS) writeFileSync(process.env.ORYXOS_TEST_STATS, JSON.stringify({ passes, failures, pending }));
      setTimeout(() => {
        console.error(`The tests are over, but the process does not end; open: ${process.getActiveResourcesInfo().join(', ')}`);
        process.exit(1);
      }, GRACE_MS).unref();
    });
  }
};
