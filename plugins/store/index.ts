import { type Logger, definePlugin } from '../../kernel/index.ts';
import '../workspace/contract.ts';
import { sqliteBackups } from './backups.ts';
import { checkFile } from './check-file.ts';
import type { StoreHealth } from './contract.ts';
import { GroupCommit } from './group-commit.ts';
import { migrator } from './migrator.ts';
import { nativeModuleError } from './native-module.ts';
import { databaseFile, openDatabase } from './open-database.ts';
import { hasTables, schemaMigrationRepository } from './schema-migration-repository.ts';
import { sqliteStore } from './sqlite-store.ts';
import { storeError } from './store-error.ts';
import { lockWorkspace } from './workspace-lock.ts';

/** Takes the workspace for this process, opens its database and offers it as the service `store`. */
export default definePlugin({
  name: 'store',
  requires: ['workspace'],
  setup(ctx) {
    const { root } = ctx.services.workspace;
    const db = guarded(() => {
      ctx.own('workspace lock', lockWorkspace(root));
      return openDatabase(root);
    });
    ctx.own('database', () => void db.close());

    const health = healthMonitor(ctx.log);
    const commits = new GroupCommit(db, ctx.clock, health.report);
    const backups = sqliteBackups(db, root, ctx.clock, (file, durationMs) => ctx.log.info('Backup written', { file, durationMs }));
    ctx.own('backups', () => backups.close());
    const hadData = guarded(() => hasTables(db));
    const { close, ...store } = sqliteStore(db, commits, ctx.clock);
    ctx.own('queued writes', close);
    const migrations = migrator({
      db,
      commits,
      schema: guarded(() => schemaMigrationRepository(db)),
      clock: ctx.clock,
      hadData,
      backUp: () => backups.create('before migration'),
      // At the first start every plugin makes its tables, which is nothing to report.
      onApplied: (owner, names) => ctx.log[hadData ? 'info' : 'debug']('Migrations applied', { owner, names }),
    });
    ctx.own('migrations', () => migrations.close());

    ctx.provide('store', { ...store, migrate: (owner, list) => migrations.migrate(owner, list) });
    ctx.provide('backups', backups);
    ctx.provide('storeHealth', { problem: health.problem, check: () => checkFile(databaseFile(root), 'quick', ctx.signal) });
  },
});

function guarded<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw nativeModuleError(error) ?? storeError(error);
  }
}

function healthMonitor(log: Logger): Pick<StoreHealth, 'problem'> & { readonly report: (error: Error | undefined) => void } {
  let failure: Error | undefined;
  return {
    problem: () => failure?.message,
    report(error) {
      if (failure === undefined && error !== undefined) log.error('The database takes no writes', { error });
      if (failure !== undefined && error === undefined) log.info('The database takes writes again');
      failure = error;
    },
  };
}
