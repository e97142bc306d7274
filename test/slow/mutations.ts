/** Guards, each with the smallest change of the sources that switches it off, and the tests that have to notice. */

/** A change of one file. `find` stands there exactly once, in the sources as well as in the built output: no types, nothing that is wrapped. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A guard that is switched off. Several patches when it has several places that do the same. */
export interface Mutation {
  readonly guard: string;
  readonly patches: readonly Patch[];
  /** Test files, of which at least one test has to fail. */
  readonly caughtBy: readonly string[];
}

type Row = readonly [guard: string, find: string, replace: string];

/** Guards of one file that the same tests watch over. */
const guardsOf = (file: string, caughtBy: string | readonly string[], rows: readonly Row[]): readonly Mutation[] =>
  rows.map(([guard, find, replace]) => ({
    guard,
    patches: [{ file: `${file}.ts`, find, replace }],
    caughtBy: [caughtBy].flat().map((test) => `test/${test}.test.ts`),
  }));

const inSandbox = (noun: string, tests: string, rows: readonly Row[]) =>
  guardsOf(`plugins/sandbox/${noun}`, `plugins/sandbox/${tests}`, rows);
const inOutside = (noun: string, tests: string, rows: readonly Row[]) =>
  guardsOf(`plugins/outside/${noun}`, `plugins/outside/${tests}`, rows);
const inHttp = (noun: string, tests: string, rows: readonly Row[]) => guardsOf(`plugins/http/${noun}`, `plugins/http/${tests}`, rows);
const inTools = (noun: string, tests: string, rows: readonly Row[]) => guardsOf(`plugins/tools/${noun}`, `plugins/tools/${tests}`, rows);
const inKernel = (noun: string, tests: string, rows: readonly Row[]) => guardsOf(`kernel/${noun}`, `kernel/${tests}`, rows);

/** The tests that look at a secret through every plugin. */
const IN_SIGHT = 'plugins/secrets/in-sight';

/** A masker that one plugin hands out, without its effect. */
const unmasked = (plugin: string, tests: string, what: string): readonly Mutation[] =>
  guardsOf(`plugins/${plugin}/index`, tests, [[what, 'secrets.mask(text)', 'text']]);

const sandbox: readonly Mutation[] = [
  ...inSandbox('index', 'sandbox', [
    ['claims on files are judged', "judgePath(claim, name, workspace.path('agents', name), rules)", 'undefined'],
    ['claims on programs and unknown things are judged', 'return judgeOther(claim, rules)', 'return undefined'],
    ['claims on URLs are judged', 'return judgeUrl({', 'return undefined && judgeUrl({'],
    ['a claim on a URL that does not say its access counts as writing', "access = 'write' } = claim", "access = 'read' } = claim"],
    ['a claim on a file that does not say its access counts as writing', "claim.access ?? 'write'", "claim.access ?? 'read'"],
  ]),
  ...inSandbox('judge', 'judge', [
    ['a file must be on the whitelist', 'rules.lists.file.some((entry) => isInside(entry, real))', 'true'],
    ['a program must be on the whitelist', 'allowed.includes(executable)', 'true'],
    ['/proc, /sys and /dev are never allowed', '=> isInside(top, path))', '=> false && isInside(top, path))'],
    ['private files of the workspace are never touched', "protection === 'never'", 'false'],
    ['definitions of agents are not written', "protection === 'write' && access === 'write' && rules.protect", 'false'],
  ]),
  ...inSandbox('judge', 'sandbox', [['an unknown kind of claim is refused', "claim.kind === 'command'", 'true']]),
  ...inSandbox('protected-path', 'judge', [
    ['secrets and state are private', 'if (isPrivate(top))', 'if (false)'],
    ['their copies and journals are private too', 'stem.startsWith(name)', 'stem === name'],
    ['skills and plugins are definitions', 'DEFINITIONS.has(top)', 'false'],
    ["other agents' directories are not written", 'names[1] !== agent', 'false'],
    ['an agent does not write its own AGENT.md', "names.length === 3 && third === 'agent.md'", 'false'],
    ['names are compared without regard to case', "name.normalize('NFC').toUpperCase().toLowerCase()", 'name'],
  ]),
  ...inSandbox('is-inside', 'judge', [
    ['a directory ends at a slash', "path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)", 'path.startsWith(directory)'],
  ]),
  ...inSandbox('judge-url', 'judge-url', [
    ['control characters in a URL are refused', 'hasControlCharacters(text)', 'false'],
    ['a URL is http or https', "url.protocol !== 'http:' && url.protocol !== 'https:'", 'false'],
    ['user names in URLs are refused', "url.username !== '' || url.password !== ''", 'false'],
    ['a host must be on the whitelist', 'entries.length === 0', 'false'],
    ['the public read policy covers reading only', "access === 'write' || rules.readPolicy !== 'public'", "rules.readPolicy !== 'public'"],
    ['the public read policy opens no local names', 'isLocalName(host)', 'false'],
    ['ports of other protocols need an entry', '!isOtherPort(port) || entries', 'true || entries'],
    ['metadata hosts are never asked', 'isMetadataHost(host)', 'false'],
    ['metadata addresses are never asked', "kind === 'never'", 'false'],
    ['the server itself is never asked', 'rules.isOwn(address, port)', 'false'],
    ['private addresses are not asked', "kind === 'public' || rules", 'true || rules'],
    ['every address behind a name is judged', 'of known ?? []', 'of (known ?? []).slice(0, 1)'],
  ]),
  ...inSandbox('address-kind', 'judge-url', [
    ['only the IPv6 internet is public', "address.range() === 'unicast' && isGlobal(address)", "address.range() === 'unicast'"],
    ['proxies’ own addresses are not public', 'isIn(address, FAKE)', 'false'],
  ]),
  ...inSandbox('domain-rule', 'judge-url', [
    ['a wildcard covers subdomains, not endings', 'host.endsWith(`.${rule.host}`)', 'host.endsWith(rule.host)'],
    ['an entry with a port covers that port only', 'rule.port !== undefined && rule.port !== port', 'false'],
  ]),
  ...inSandbox('whitelist', 'whitelist', [
    ['a change of a whitelist counts at once', 'await this.#load();', 'if (this.#lists.file.length === 0) await this.#load();'],
  ]),
  ...guardsOf('plugins/sandbox/confinement', 'plugins/outside/isolation', [
    ['programs do not see private files', "return 'hidden';", 'return undefined;'],
    ['programs do not change definitions', "protection === 'write' && protect", 'false'],
  ]),
];

const policy: readonly Mutation[] = [
  ...guardsOf('plugins/policy/index', 'plugins/policy/policy', [
    ['a forbidden tool does not run', 'denial && refusal(call, denial)', 'undefined'],
    ['a forbidden tool is not shown', 'rules.length === 0 ?', 'true ?'],
  ]),
  ...guardsOf('plugins/policy/decision', 'plugins/policy/decision', [
    ['a global denial counts', "hit('GLOBAL_DENY', null)", 'undefined'],
    ["an agent's denial counts, whatever exempts it", "hit('AGENT_DENY', agentName)", 'undefined'],
    ['an exemption is for one agent', 'rule.agentName === agent &&', ''],
    [
      'a server’s tools are those that it registered',
      'source !== undefined && pattern === `${source}:*`',
      "pattern === `${name.split('_')[0]}:*`",
    ],
  ]),
];

const executor: readonly Mutation[] = [
  ...inKernel('tool-executor', 'turn-loop', [
    ['an undeclared tool does not run', '!isDeclared(turn.agent, tool)', 'false'],
    ['a tool has a deadline', 'await Promise.race([running, deadline.over])', 'await running'],
  ]),
  ...inKernel('tool-executor', 'tool-executor', [
    ['a tool that was taken off the list does not run', '(await this.#withdrawn(call))', 'undefined'],
    ['guards are asked about what is claimed beforehand', 'await this.#host.hooks.onClaim(Object.freeze(claim), call)', 'undefined'],
    [
      'guards are asked about what is claimed on the way',
      'refusal = await this.#host.hooks.onClaim(Object.freeze(late), call)',
      'refusal = undefined',
    ],
    ['a tool is told no when a guard would refuse', '(await this.#host.hooks.onClaim(Object.freeze(late), call)) === undefined', 'true'],
    ['a tool that cannot say what it will touch is refused', "[{ kind: 'unknown', value: tool.name }]", '[]'],
    [
      'a refusal is one, whatever the tool makes of it',
      'refusal ? refused(refusal) : this.#thrown(tool, error)',
      'this.#thrown(tool, error)',
    ],
  ]),
  ...inKernel('tool-arguments', 'turn-loop', [['arguments outside the schema are refused', 'if (!checked.ok)', 'if (false)']]),
  ...inKernel('tool-arguments', 'tool-executor', [
    ['arguments are frozen', 'deepFreeze(checked.value', '((value) => value)(checked.value'],
  ]),
  ...inKernel('turn-loop', 'turn-loop', [
    ['calls of one answer are capped', 'index < MAX_CALLS_PER_ANSWER ?', 'true ?'],
    ['a run in circles ends', 'this.#guard.observe(observed)', 'false'],
  ]),
  ...inKernel('loop-guard', 'loop-guard', [['repetitions are counted', 'count >= this.#limit', 'false']]),
  ...inKernel('transcript', 'transcript', [['a long result is clipped in the prompt', 'content.length <= MAX_RESULT_CHARS', 'true']]),
  ...guardsOf(
    'kernel/lifecycle',
    ['guards', 'kernel/guard'],
    [['no tool runs while a guard is loaded and not active', "plugin.guard && state !== 'active'", 'false']],
  ),
  ...['sandbox', 'policy', 'audit'].flatMap((plugin) =>
    guardsOf(`plugins/${plugin}/index`, 'guards', [[`the plugin ${plugin} is a guard`, 'guard: true', 'guard: false']]),
  ),
];

const files: readonly Mutation[] = [
  ...inOutside('attempt', 'files', [
    ['the path that is opened was judged', 'await run.claim(resolvedClaim(path, target.real, each))', 'undefined'],
    ['a run does not bring a deleted agent back', "access.includes('write')", 'false'],
  ]),
  ...inOutside('project', 'project', [
    ['a dangling link leads nowhere', "throw new ProjectionProblem('leads through a dangling link');", 'return undefined;'],
    ['".." is the parent of where a link leads', "absolute.split('/')", "(await import('node:path')).normalize(absolute).split('/')"],
  ]),
  ...inOutside('open-directory', 'open-directory', [
    ['an open directory is the one that was judged', "!readlinkSync(link, { encoding: 'buffer' }).equals(Buffer.from(real))", 'false'],
    ['a directory is not opened through a link', 'constants.O_DIRECTORY | constants.O_NOFOLLOW', 'constants.O_DIRECTORY'],
  ]),
  ...inOutside('read-file', 'files', [
    ['a file with other names is not read', 'stat.nlink > 1 && !rules.allowHardlinks', 'false'],
    ['a pipe does not block a read', 'constants.O_NONBLOCK', '0'],
  ]),
  ...guardsOf('plugins/outside/read-file', 'plugins/outside/race', [['a file is not read through a link', 'constants.O_NOFOLLOW |', '']]),
  {
    guard: 'what is read has a limit',
    patches: [
      { file: 'plugins/outside/read-file.ts', find: 'if (size > limits.maxBytes)', replace: 'if (false)' },
      { file: 'plugins/outside/read-file.ts', find: 'if (length > limits.maxBytes)', replace: 'if (false)' },
    ],
    caughtBy: ['test/plugins/outside/files.test.ts'],
  },
  ...inOutside('append-file', 'file-operations', [
    ['a file with other names is not added to', 'stat.nlink > 1 && !rules.allowHardlinks', 'false'],
  ]),
  ...inOutside('entry', 'files', [['only regular files are read and written', 'if (stat.isFile() || stat.isSymbolicLink())', 'if (true)']]),
  ...inOutside('files', 'files', [['what is written has a limit', 'byteLength > MAX_WRITE_BYTES', 'false']]),
  ...guardsOf('plugins/outside/walk-files', 'slow/large-directory', [['a walk has an end', 'this.#seen === MAX_ENTRIES', 'false']]),
  ...inOutside('walk-files', 'file-operations', [
    ['a walk visits no file that guards refuse', '!(await this.#rules.permits(join(directory.real, name)))', 'false'],
    ['a walk enters no directory that guards refuse', '!(await this.#rules.permits(join(parent.real, name)))', 'false'],
  ]),
];

const http: readonly Mutation[] = [
  ...inOutside('http', 'http', [
    ['a URL is judged as it was given', 'await run.claim(urlClaim(call.url, access));', ''],
    ['where a redirect leads is judged before it is looked up', 'await run.claim(urlClaim(end.next.url.href, access));', ''],
    ['the addresses behind a name are judged', 'await run.claim(urlClaim(url.href, access, addresses));', ''],
    ['metadata addresses are refused, whatever guards say', 'requireNoMetadata(url.hostname, addresses);', ''],
    ['redirects have an end', 'if (left === 0)', 'if (left === -40)'],
  ]),
  ...inOutside('http-target', 'http', [
    ['metadata names are refused, whatever guards say', 'if (isMetadataHost(url.hostname))', 'if (false)'],
  ]),
  ...inOutside('http-dialer', 'http', [
    ['the address that was judged is dialled', '{ ...options, hostname: address }', '{ ...options }'],
    ['the other end is the address that was judged', 'sameAddress(socket.remoteAddress, address)', 'true'],
  ]),
  ...inOutside('http-redirect', 'http', [
    ["another origin does not get the caller's headers", 'isForeign ? harmless(hop.headers) : hop.headers', 'hop.headers'],
    ['another origin does not get the body', 'isForeign && keepsBody', 'false'],
    ['nothing secret goes from https to http', "hop.url.protocol === 'https:' && url.protocol === 'http:'", 'false'],
  ]),
  ...inOutside('header-problem', 'http', [
    ['headers of the connection cannot be given', 'OF_THE_CONNECTION.has(name.toLowerCase())', 'false'],
  ]),
  ...inTools('http-result', 'http-tools', [
    ['what is read of an answer has a limit', 'readBody(answer, MAX_READ_BYTES)', 'readBody(answer, 1e9)'],
    ['what is shown of an answer has a limit', 'bytes.subarray(0, MAX_SHOWN_BYTES)', 'bytes'],
    [
      'content from outside is fenced',
      "const fenced = fence(run, sourceOf(answer), head === '' ? text : `${head}\\n\\n${text}`)",
      'const fenced = text',
    ],
    [
      'what a failure says is fenced',
      '`${status}:\\n${fence(run, sourceOf(answer), ',
      '`${status}:\\n${((_, __, text) => text)(run, sourceOf(answer), ',
    ],
  ]),
  ...inTools('fenced', 'fenced', [
    ['content cannot know its boundary', 'randomBytes(32)', "'known'"],
    ['content cannot imitate a boundary', ".replace(LIKE_A_MARK, '(not a mark)')", ''],
    ['content cannot imitate a role', 'bar === undefined ?', 'true ? _ : bar === undefined ?'],
  ]),
  ...guardsOf('plugins/memory/memory-block', 'plugins/memory/memory-block', [['memory is fenced', 'return fenced(body)', 'return body']]),
];

const programs: readonly Mutation[] = [
  ...inOutside('processes', 'processes', [
    ['a program is judged before it starts', "await toolRun.claim({ kind: 'command', value: executable });", ''],
    ['what was judged cannot change', 'Object.freeze([...command.arguments])', 'command.arguments'],
  ]),
  ...inOutside('child', 'processes', [
    ['a program does not get the environment of the server', 'extendEnv: false', 'extendEnv: true'],
    ['a program has a deadline', "after(timeoutMs, () => stop({ kind: 'timeout', seconds: timeoutMs / 1000 }));", ''],
    ['what a program says has a limit', 'output.total <= MAX_OUTPUT_BYTES', 'true'],
    ['what left the group is found', 'if (mayStray)', 'if (false)'],
  ]),
  ...inOutside('child-environment', 'processes', [['variables of ours are never passed on', '!isOwnVariable(name)', 'true']]),
];

const secrets: readonly Mutation[] = [
  ...unmasked('logging', 'plugins/logging/logging', 'secrets are masked in logs'),
  ...unmasked('trace', 'plugins/trace/trace', 'secrets are masked in traces'),
  ...unmasked('audit', IN_SIGHT, 'secrets are masked in audit views'),
  ...unmasked('conversations', IN_SIGHT, 'secrets are masked in events of a stream'),
  ...unmasked('http', IN_SIGHT, 'secrets are masked in errors'),
  ...unmasked('executions', IN_SIGHT, 'secrets are masked in executions'),
  ...unmasked('schedules', IN_SIGHT, 'secrets are masked in executions of schedules'),
  ...guardsOf('plugins/trace/timeline', 'plugins/trace/trace', [
    ['a summary is masked before it is cut', 'mask(value)', 'mask(value.slice(0, MAX_SUMMARY_LENGTH))'],
  ]),
  ...guardsOf('plugins/secrets/masker', 'plugins/secrets/mask', [
    ['known values are masked', 'const withoutKnown = this.#maskKnown(text)', 'const withoutKnown = text'],
    ['shapes of secrets are masked', 'maskShapes(maskFields(maskPem(withoutKnown)))', 'withoutKnown'],
  ]),
  ...guardsOf('plugins/secrets/index', 'plugins/secrets/secrets', [
    ['what is sealed is masked', 'keys.markUsed();', 'keys.markUsed(); return sealed;'],
  ]),
  ...guardsOf('plugins/providers/provider-book', IN_SIGHT, [
    ['keys of providers stay masked, however many secrets come after them', 'secrets.remember(key.value)', '() => undefined'],
  ]),
  ...guardsOf('plugins/providers/provider-book', 'plugins/providers/providers', [
    ['a kept key is not sent to another host', "change.kind === 'keep' && key.kind !== 'none'", 'false'],
  ]),
  ...guardsOf('plugins/providers/index', IN_SIGHT, [
    ['keys in the configuration are masked', 'secrets.remember(apiKey)', '() => undefined'],
  ]),
  ...guardsOf('plugins/providers/provider-key', 'plugins/providers/providers', [
    ['keys of providers are sealed', 'secrets.seal(value, placeOf(name))', 'value'],
    ['keys of providers are shown as a hint', 'reveal ? key.value : secrets.hint(key.value)', 'key.value'],
  ]),
  ...guardsOf('plugins/tools/index', IN_SIGHT, [['the key of the search engine is masked', 'secrets.remember(apiKey)', '() => undefined']]),
  ...guardsOf('plugins/notify/channel-config-change', 'plugins/notify/channels', [
    ['secrets of channels are sealed', 'sealed: secrets.seal(plain, secretPlace(channel, path))', 'sealed: plain'],
  ]),
  ...guardsOf('plugins/notify/channel-config', 'plugins/notify/channels', [
    ['secrets of channels are shown as a hint', 'value === undefined ? MASK : secrets.hint(value)', 'value'],
  ]),
  ...guardsOf('plugins/notify/channel-config', 'plugins/notify/channel-life', [
    ['secrets of older channels are sealed', '{ ...node, sealed: secrets.seal(node.value, secretPlace(channel, at)) }', 'node'],
  ]),
  ...guardsOf('plugins/notify/channel-book', IN_SIGHT, [
    ['keys of channels stay masked, however many secrets come after them', 'this.#parts.secrets.remember(value)', '() => undefined'],
  ]),
  ...guardsOf('plugins/notify/open-outbox', 'plugins/notify/outbox-api', [
    ['secrets are masked in views of what was sent', 'secrets.mask(text)', 'text'],
  ]),
  {
    guard: 'a sealed value belongs to its place',
    patches: [{ file: 'plugins/secrets/sealed-value.ts', find: 'Buffer.from(`${table}|${key}|${column}`)', replace: "Buffer.from('')" }],
    caughtBy: ['test/plugins/secrets/secrets.test.ts'],
  },
  {
    guard: 'a shortened tag is refused',
    patches: [
      { file: 'plugins/secrets/sealed-value.ts', find: '([A-Za-z0-9+/]{22}==)$`)', replace: '([A-Za-z0-9+/=]*)$`)' },
      { file: 'plugins/secrets/sealed-value.ts', find: '{ authTagLength: 16 }', replace: '{}' },
    ],
    caughtBy: ['test/plugins/secrets/secrets.test.ts'],
  },
  ...guardsOf('plugins/secrets/sealed-value', 'plugins/secrets/secrets', [
    ['a beheaded value is not taken for plain text', '!PREFIX.test(sealed) && !BEHEADED.test(sealed)', '!PREFIX.test(sealed)'],
  ]),
];

const web: readonly Mutation[] = [
  ...inHttp('host-guard', 'host-guard', [
    ['a foreign host is refused', '!(isOwn(name) || isAllowed(name, port))', 'false'],
    ['a foreign origin is refused', '!isSameOrigin(origin, host) && !isAllowedOrigin(origin, isAllowed)', 'false'],
    ['a cross-site write is refused', '!OWN_SITES.has(site)', 'false'],
    ['two hosts are refused', 'hosts.length > 1', 'false'],
  ]),
  ...inHttp('body', 'body', [
    ['a body is JSON', "type !== 'application/json'", 'false'],
    ['a packed body is refused', "coding.toLowerCase() !== 'identity'", 'false'],
    ['a body has a size', 'jsonLimit: maxBytes', "jsonLimit: '1gb'"],
    ['a body has a depth', 'isDeeperThan(body, MAX_DEPTH)', 'false'],
    ['a body is UTF-8', '!encoding.isValid()', 'false'],
  ]),
  ...inHttp('event-stream', 'event-stream', [
    ['a client that does not read is dropped', 'this.#response.writableLength > this.#settings.maxBufferedBytes', 'false'],
    ['an event is one line', "event.replace(/[\\r\\n]/g, ' ')", 'event'],
  ]),
  ...inHttp('event-streams', 'event-stream', [['streams are counted', 'this.#taken >= this.#maxStreams', 'false']]),
];

const audit: readonly Mutation[] = [
  ...guardsOf('plugins/audit/index', 'plugins/audit/required', [
    ['a row that is required commits with its step', 'if (required)', 'if (false)'],
    [
      'a tap that is required fails the run',
      'records.llmCall(attempt, subjectOf(turn))), { required }',
      'records.llmCall(attempt, subjectOf(turn))), {}',
    ],
  ]),
  ...guardsOf('plugins/audit/index', 'plugins/audit/records', [
    ['every model call has its row', 'added(rows, records.llmCall(attempt, subjectOf(turn)))', 'rows'],
    ['every tool call has its row', 'added(rows, await records.toolCall(call, result, durationMs))', 'rows'],
  ]),
  ...guardsOf('plugins/audit/capped-text', 'plugins/audit/records', [
    ['what is recorded has a limit', 'text.length * 3 <= MAX_BYTES || Buffer.byteLength(text) <= MAX_BYTES', 'true'],
  ]),
  ...guardsOf('plugins/audit/recorder', 'plugins/audit/records', [
    ['who refused is recorded', 'result.success ? null : (result.blockedBy ?? null)', 'null'],
  ]),
];

/** Every guard that is switched off in turn. */
export const mutations: readonly Mutation[] = [
  ...sandbox,
  ...policy,
  ...executor,
  ...files,
  ...http,
  ...programs,
  ...secrets,
  ...web,
  ...audit,
];
