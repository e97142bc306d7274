/** The command line as the composition root sees it. */
export { runCli } from './run-cli.ts';
export type { AgentLine, CliHost, HostOptions, InputStream, OutputStream, RestoredWorkspace, RunningHost } from './cli-host.ts';
