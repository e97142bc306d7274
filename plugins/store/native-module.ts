import { OryxError, messageOf } from '../../kernel/index.ts';

/** Node's module versions and the releases they belong to, see https://nodejs.org/en/about/previous-releases. */
const NODE_OF_MODULE_VERSION: Readonly<Record<string, string>> = {
  108: '18',
  115: '20',
  120: '21',
  127: '22',
  131: '23',
  137: '24',
  141: '25',
};

/**
 * Explains why the compiled part of better-sqlite3 could not be loaded: names the Node it was built for, the Node that runs, and the
 * command that repairs it. Undefined when the error is about something else.
 */
export function nativeModuleError(error: unknown): OryxError | undefined {
  const text = messageOf(error);
  const repair = 'Run "npm rebuild better-sqlite3" in the installation directory and start again.';
  const [, builtFor, running] = /NODE_MODULE_VERSION (\d+)[^]*NODE_MODULE_VERSION (\d+)/.exec(text) ?? [];
  if (builtFor !== undefined && running !== undefined) {
    const message = `SQLite was built for ${nodeName(builtFor)}, but this is Node ${process.versions.node} (${nodeName(running)}). ${repair}`;
    return new OryxError('ORYX_STORE_UNAVAILABLE', message, { cause: error });
  }
  if ((error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_FAILED' || text.includes('Could not locate the bindings file')) {
    const message = `The compiled part of SQLite is missing or cannot be loaded by Node ${process.versions.node}. ${repair}`;
    return new OryxError('ORYX_STORE_UNAVAILABLE', message, { cause: error });
  }
  return undefined;
}

function nodeName(moduleVersion: string): string {
  const release = NODE_OF_MODULE_VERSION[moduleVersion];
  return release === undefined ? `module version ${moduleVersion}` : `Node ${release}, module version ${moduleVersion}`;
}
