/** Changes of agents that come over the API. They take the same serial path as changes on disk, and end as files. */
import { type Clock, invalidInput, isOryxError, type Logger, messageOf, notFound, OryxError } from '../../kernel/index.ts';
import type { Providers } from '../providers/contract.ts';
import { agentError, invalidAgent } from './agent-error.ts';
import { readAgentFile, versionOf } from './agent-file.ts';
import { isAgentName } from './agent-name.ts';
import { archiveAgent } from './archive.ts';
import type { DeletionListeners } from './deletion-listeners.ts';
import type { Deriver } from './deriver.ts';
import type { DiskFollower } from './disk-follower.ts';
import { type BasicEdit, withBasicEdit } from './edit-basic.ts';
import type { Roster } from './roster.ts';
import { scaffoldOf } from './scaffold.ts';
import type { Serial } from './serial.ts';
import type { FileWriter, NewFile } from './staged-files.ts';

/** What an editor works with. */
export interface AgentEditorParts {
  readonly directory: string;
  readonly archive: string;
  readonly roster: Roster;
  readonly follower: DiskFollower;
  readonly serial: Serial;
  readonly files: FileWriter;
  readonly providers: Providers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly deriver: Deriver;
  readonly deletions: DeletionListeners;
}

/** A new agent; what is missing comes from the defaults. */
export interface CreateRequest {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly provider?: string | null | undefined;
  readonly model?: string | null | undefined;
}

/** Every change resolves when it is on disk and live. A rejection means that nothing has changed. */
export interface AgentEditor {
  /** A new agent from the scaffold. 400 for a bad name, an unknown provider or a directory that exists. */
  create(request: CreateRequest): Promise<void>;
  /** Replaces AGENT.md. 404 for an agent that is not there, 400 for an invalid text; nothing has changed then. */
  save(name: string, markdown: string): Promise<void>;
  /** As `save`, and creates the agent when there is no directory of that name. */
  saveOrCreate(name: string, markdown: string): Promise<void>;
  /** Edits description, provider and model where they stand. 404, 400. */
  saveBasic(name: string, edit: BasicEdit): Promise<void>;
  /** Replaces or adds files, AGENT.md among them, and creates the agent when there is no directory of that name. 400. */
  saveFiles(name: string, files: readonly NewFile[]): Promise<void>;
  /** Takes the agent out of sight and moves its directory to the archive. 404; a failure half-way puts it back. */
  remove(name: string): Promise<void>;
}

/** An editor of the agents in one directory. */
export function createAgentEditor(parts: AgentEditorParts): AgentEditor {
  const { directory, roster, follower, serial, files, log } = parts;

  /** On the serial path, when what is on disk has been looked at. */
  const withAgent = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    serial.run(async () => {
      await follower.refresh(name);
      return work();
    });
  const requireKnown = (name: string): void => {
    if (roster.entry(name) === undefined) throw notFound(`There is no agent "${name}".`);
  };

  const put = async (name: string, newFiles: readonly NewFile[], create: boolean): Promise<void> => {
    const content = newFiles[newFiles.length - 1]?.content ?? new Uint8Array();
    const text = Buffer.from(content).toString('utf8');
    const derived = parts.deriver.saved(text, name, versionOf(content));
    if (!derived.ok) throw invalidAgent(derived.error);
    const staged = await files.write(name, newFiles, create).catch((error: unknown) => {
      throw asAnswer(name, error);
    });
    try {
      await roster.accept([{ definition: derived.agent, text }], parts.clock.now(), [staged.final]);
    } catch (error) {
      await staged.rollback();
      throw error;
    }
    await staged.finish();
  };

  const putOrCreate = (name: string, newFiles: readonly NewFile[]): Promise<void> => {
    if (!isAgentName(name)) throw invalidInput(`"${name}" cannot be the name of an agent: use 1 to 64 letters, digits, "_" or "-".`);
    return put(name, newFiles, roster.entry(name) === undefined);
  };

  return {
    create: (request) =>
      withAgent(request.name, async () => {
        const { name } = request;
        if (!isAgentName(name)) throw invalidInput(`name: "${name}" must be 1 to 64 letters, digits, "_" or "-".`);
        if (roster.entry(name) !== undefined) throw invalidInput(`There is an agent "${name}" already.`);
        const { provider, model } = providerFor(request, parts.providers);
        await put(name, scaffoldOf({ name, description: request.description ?? null, provider, model }), true);
        log.info('agent created', { agent: name });
      }),
    save: (name, markdown) =>
      withAgent(name, async () => {
        requireKnown(name);
        await put(name, [agentMarkdown(markdown)], false);
        log.info('agent saved', { agent: name });
      }),
    saveOrCreate: (name, markdown) => withAgent(name, () => putOrCreate(name, [agentMarkdown(markdown)])),
    saveBasic: (name, edit) =>
      withAgent(name, async () => {
        requireKnown(name);
        const file = await readAgentFile(directory, name);
        if (file.kind !== 'text')
          throw invalidAgent(agentError(name, file.kind === 'unusable' ? file.message : 'the file cannot be read now'));
        await put(name, [agentMarkdown(withBasicEdit(file.text, name, edit))], false);
      }),
    saveFiles: (name, newFiles) => withAgent(name, () => putOrCreate(name, newFiles)),
    remove: (name) =>
      withAgent(name, async () => {
        requireKnown(name);
        const putBack = await roster.hide(name);
        let place: string;
        try {
          await parts.deletions.tell(name);
          place = await archiveAgent(directory, name, parts.archive, parts.clock.now());
        } catch (error) {
          putBack();
          throw asAnswer(name, error);
        }
        await roster.retire([name]).catch((error: unknown) => {
          log.error('the version of a deleted agent cannot be retired', { agent: name, error: messageOf(error) });
        });
        log.info('agent archived', { agent: name, archive: `archive/${place}` });
      }),
  };
}

const agentMarkdown = (markdown: string): NewFile => ({ path: 'AGENT.md', content: Buffer.from(markdown, 'utf8') });

/** Provider and model of a new agent; what is not given comes from the defaults, as far as the two belong together. */
function providerFor(request: CreateRequest, providers: Providers): { readonly provider: string; readonly model: string } {
  const given = (text: string | null | undefined): string | undefined => (text?.trim() ? text : undefined);
  const defaults = providers.defaults();
  const provider = given(request.provider) ?? defaults.provider;
  if (!providers.has(provider)) {
    throw invalidInput(
      `provider: there is no provider "${provider}"; known are ${providers
        .list()
        .map(({ name }) => name)
        .join(', ')}.`,
    );
  }
  const model = given(request.model) ?? (provider === defaults.provider ? defaults.model : provider === 'mock' ? 'mock' : undefined);
  if (model === undefined) throw invalidInput(`model: name a model of the provider "${provider}".`);
  return { provider, model };
}

/** A failure of the disk as an answer that names no path outside the workspace. */
function asAnswer(name: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (isOryxError(error) || code === undefined) return error;
  const full = ['ENOSPC', 'EDQUOT', 'EROFS'].includes(code);
  const message = `The files of agent "${name}" cannot be written (${code})${full ? ': make room or make the workspace writable' : ''}.`;
  return new OryxError(full ? 'ORYX_STORE_UNAVAILABLE' : 'ORYX_INTERNAL', message, { cause: error });
}
