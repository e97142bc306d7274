/** What a failed npm means, in words that say what to do. */

const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|network (?:request|timeout)/;
const NO_TOOLS =
  /gyp ERR! find Python|not found: make|make: (?:command )?not found|(?:g\+\+|c\+\+|cc): (?:command )?not found|No such file or directory: '(?:make|g\+\+)'|No Xcode/i;
const OUT_OF_SYNC = /can only install packages when your package\.json and package-lock\.json/;
const NO_SPACE = /ENOSPC/;
const NO_RIGHT = /EACCES|EPERM|EROFS/;

const TOOLS =
  'a C++ compiler, make and Python 3. ' +
  'Debian, Ubuntu: sudo apt-get install -y build-essential python3. Fedora: sudo dnf install -y gcc-c++ make python3. macOS: xcode-select --install.';
const CHECK_NETWORK = 'Check the network, the proxy settings and "npm config get registry", then try again.';

/**
 * @param {string} output what npm printed
 * @returns {string} the likely reason and the way out, one paragraph
 */
export function installProblem(output) {
  // Before it compiles, better-sqlite3 looks for a ready-made binary and prints why it found none; only what gyp says counts then.
  const compiling = output
    .split('\n')
    .filter((line) => line.includes('gyp ERR!'))
    .join('\n');
  if (NO_SPACE.test(output)) return 'The disk is full: installing needs about 450 MB.';
  if (OUT_OF_SYNC.test(output)) return 'package.json and package-lock.json do not fit together. Run: npm install';
  if (NO_TOOLS.test(output)) return `SQLite has to be compiled on this machine, and the tools for it are missing: ${TOOLS}`;
  if (NETWORK.test(compiling)) return `The headers of Node.js, needed to compile SQLite, could not be downloaded. ${CHECK_NETWORK}`;
  if (compiling !== '') return `SQLite could not be compiled; see above. It needs ${TOOLS}`;
  if (NETWORK.test(output)) return `npm could not reach the package registry. ${CHECK_NETWORK}`;
  if (NO_RIGHT.test(output)) return 'npm may not write here. Check who owns this directory and node_modules in it.';
  return 'npm could not install the packages.';
}
