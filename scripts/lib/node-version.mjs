/** Whether this Node can run the project. Plain old syntax: the Nodes that it turns away must be able to read it. */

/**
 * @param {string} version as in process.versions.node
 * @param {string} range as in package.json, of the form ">=20.19"
 * @returns {string | undefined} what is wrong and what to do
 */
export function nodeProblem(version, range) {
  const [wantedMajor, wantedMinor] = numbersOf(range);
  const [major, minor] = numbersOf(version);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return (
    'OryxOS needs Node.js ' +
    wantedMajor +
    '.' +
    wantedMinor +
    ' or newer, this is ' +
    version +
    '. ' +
    'Install a newer one from https://nodejs.org or with your version manager, for example: nvm install ' +
    (wantedMajor + 2)
  );
}

function numbersOf(text) {
  const found = /(\d+)\.(\d+)/.exec(text);
  return found === null ? [0, 0] : [Number(found[1]), Number(found[2])];
}
