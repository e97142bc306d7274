/** Agents and profiles over HTTP. */
import { invalidInput } from '../../kernel/index.ts';
import { defineRoute, type Route } from '../http/contract.ts';
import type { AgentEditor } from './agent-editor.ts';
import type { ProfileView } from './agent-view.ts';
import type { Agents } from './contract.ts';
import { checkedFiles } from './file-paths.ts';
import { agentView, basicBody, createBody, filesBody, nameParams, profileView, saveBody } from './schemas.ts';

const MAX_FILES_BYTES = 10 * 1024 * 1024;

/** @param profiles  the live agents, sorted by name */
export function agentRoutes(agents: Agents, editor: AgentEditor, profiles: () => readonly ProfileView[]): readonly Route[] {
  return [
    defineRoute({
      name: 'GET /api/v1/agents',
      summary: 'List all agents, broken ones too',
      kind: 'read',
      answer: { type: 'array', items: agentView },
      handle: () => agents.list(),
    }),
    defineRoute({
      name: 'POST /api/v1/agents',
      summary: 'Create an agent from the scaffold',
      kind: 'admin',
      body: createBody,
      answer: agentView,
      async handle({ body }) {
        checkBindings(body);
        await editor.create(body);
        return agents.view(body.name);
      },
    }),
    defineRoute({
      name: 'GET /api/v1/agents/{name}',
      summary: 'Show an agent',
      kind: 'read',
      params: nameParams,
      answer: agentView,
      handle: ({ params }) => agents.view(params.name),
    }),
    defineRoute({
      name: 'PUT /api/v1/agents/{name}',
      summary: 'Replace AGENT.md; live when this answers',
      kind: 'admin',
      params: nameParams,
      body: saveBody,
      answer: agentView,
      async handle({ params, body }) {
        await editor.save(params.name, body.agentMarkdown);
        return agents.view(params.name);
      },
    }),
    defineRoute({
      name: 'PUT /api/v1/agents/{name}/basic',
      summary: 'Edit description, provider and model in AGENT.md, and nothing else',
      kind: 'admin',
      params: nameParams,
      body: basicBody,
      answer: agentView,
      async handle({ params, body }) {
        await editor.saveBasic(params.name, body);
        return agents.view(params.name);
      },
    }),
    defineRoute({
      name: 'POST /api/v1/agents/{name}/files',
      summary: 'Save files of an agent together, AGENT.md among them',
      kind: 'admin',
      params: nameParams,
      body: filesBody,
      maxBodyBytes: MAX_FILES_BYTES,
      answer: agentView,
      async handle({ params, body }) {
        const files = checkedFiles(body.files);
        checkBindings(body);
        await editor.saveFiles(params.name, files);
        return agents.view(params.name);
      },
    }),
    defineRoute({
      name: 'DELETE /api/v1/agents/{name}',
      summary: 'Delete an agent: its directory and its sessions go to the archive',
      kind: 'admin',
      params: nameParams,
      answer: { type: 'null' },
      async handle({ params }) {
        await editor.remove(params.name);
        return null;
      },
    }),
    defineRoute({
      name: 'GET /api/v1/profiles',
      summary: 'List the profiles of all live agents',
      kind: 'read',
      answer: { type: 'array', items: profileView },
      handle: () => profiles(),
    }),
  ];
}

/** Nothing that could be bound is installed, so no name in these lists can be right. */
function checkBindings(body: { readonly skillBindings?: unknown; readonly knowledgeBindings?: unknown }): void {
  const first = (list: unknown): string | undefined => (Array.isArray(list) && list.length > 0 ? String(list[0]) : undefined);
  const skill = first(body.skillBindings);
  if (skill !== undefined) throw invalidInput(`skillBindings: no skill "${skill}" is installed.`);
  const base = first(body.knowledgeBindings);
  if (base !== undefined) throw invalidInput(`knowledgeBindings: there is no knowledge base "${base}".`);
}
