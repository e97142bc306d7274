/** Findings about this machine: Node.js, and whether programs of agents can be isolated. */
import { failure, type Finding, fine, warning } from './finding.ts';

const NEEDED = { major: 20, minor: 19 };

/** @param version  as in `process.versions.node` */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor);
  if (isEnough) return fine(`Node.js ${version}.`);
  return failure(`Node.js ${version} is too old.`, `Install Node.js ${NEEDED.major}.${NEEDED.minor} or newer.`);
}

/** @param summary  what the shell tool would say about its isolation, one sentence or more */
export function isolationFinding(isolated: boolean, summary: string): Finding {
  if (isolated) return fine(`bubblewrap works. ${summary}`);
  const advice = summary.includes('not installed')
    ? 'Install bubblewrap, e.g. apt-get install bubblewrap; without it allow only programs that you would run with any argument.'
    : 'Set shell.isolation to auto, and let this machine (or the runtime of its container) allow unprivileged user namespaces.';
  return warning(summary, advice);
}
