/** Findings about settings that give up protection. */
import type { SettingView } from './views.ts';
import { failure, type Finding, fine, warning } from './finding.ts';

/** Addresses that only this machine reaches. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)$/;

/** The rules: a key, what makes its value worth a word, and the words. Keys that a configuration lacks say nothing. */
const RULES: readonly {
  readonly key: string;
  readonly applies: (value: unknown) => boolean;
  readonly finding: (value: unknown) => Finding;
}[] = [
  {
    key: 'server.host',
    applies: (value) => typeof value === 'string' && !LOOPBACK.test(value),
    finding: (value) =>
      warning(
        `server.host is ${String(value)}: whoever reaches that address controls the agents, there is no authentication.`,
        'Use 127.0.0.1, or a network that you trust.',
      ),
  },
  {
    key: 'oryxos.unsafe',
    applies: (value) => value === true,
    finding: () => failure('oryxos.unsafe is true: guards can be left out.', 'Remove oryxos.unsafe from the configuration.'),
  },
  {
    key: 'oryxos.web.reveal-api-keys',
    applies: (value) => value === true,
    finding: () => warning('oryxos.web.reveal-api-keys is true: the API shows provider keys in clear.', 'Set it to false.'),
  },
  {
    key: 'file.protect',
    applies: (value) => value === false,
    finding: () => warning('file.protect is false: agents may rewrite agents, skills and plugins.', 'Set it to true.'),
  },
  {
    key: 'file.allowed-paths',
    applies: (value) => Array.isArray(value) && value.includes('/'),
    finding: () => warning('file.allowed_paths holds "/": agents may touch every file of this machine.', 'Name single directories.'),
  },
  {
    key: 'audit.required',
    applies: (value) => value === false,
    finding: () => warning('audit.required is false: agents may act without a record.', 'Set it to true.'),
  },
];

/** One finding for each setting that gives up protection; one good one when there is none. */
export function settingFindings(settings: readonly SettingView[]): readonly Finding[] {
  const found = RULES.flatMap(({ key, applies, finding }) => {
    const setting = settings.find((candidate) => candidate.key === key);
    return setting !== undefined && applies(setting.value) ? [finding(setting.value)] : [];
  });
  return found.length > 0 ? found : [fine('No setting gives up protection.')];
}
