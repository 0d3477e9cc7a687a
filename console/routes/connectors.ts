/**
 * Connectors (servers of MCP): what they offer now, and a person's approval of it.
 * Invariants: a person approves the description that was shown, by its hash: one that its server has changed since is not
 * approved; the approval is in the audit trail before a run gets the tool; servers are reached by the desk's own
 * configuration, never by an address of a request.
 */
import { z } from 'zod';
import { approveTools, asShown } from '../../connectors/approve-tools.js';
import type { Surveyed, SurveyedTool } from '../../connectors/survey.js';
import { toolChanges } from '../../connectors/tool-changes.js';
import type { Json } from '../../core/json/json.js';
import type { ConnectorsNow } from '../connectors-now.js';
import * as shapes from '../http/connector-shapes.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { once } from '../http/idempotency.js';
import { notFound, Problem } from '../http/problem.js';
import { note } from '../trail.js';

const CONNECTOR_CHARS_MAX = 64;

const listConnectors = endpoint({
  method: 'get',
  path: '/v1/connectors',
  name: 'listConnectors',
  summary: 'Tools that servers of connectors offer now, and how they differ from those approved.',
  access: 'connectors',
  query: z.strictObject({
    connector: z.string().min(1).max(CONNECTOR_CHARS_MAX).optional().describe('this one alone'),
    definitions: z
      .enum(['true', 'false'])
      .optional()
      .describe('with all that servers say of tools'),
  }),
  answers: {
    200: {
      description: 'The connectors of the configuration.',
      schema: z.object({ items: z.array(shapes.connector) }),
    },
  },
  async handle({ desk, person: { tenant }, query: { connector, definitions } }) {
    const { connectors: now } = desk;
    if (connector !== undefined && !now?.names.includes(connector)) throw notFound();
    const found = ((await now?.all(tenant)) ?? []).filter(
      (one) => connector === undefined || one.connector === connector,
    );
    const logins = now?.logins?.names ?? [];
    const items = found.map((one) => ({
      ...shown(one, definitions === 'true'),
      hasLogin: logins.includes(one.connector),
    }));
    return { status: 200, body: { items } };
  },
});

const approve = endpoint({
  method: 'post',
  path: '/v1/connectors/{connector}/approve',
  name: 'approveTools',
  summary: 'From now on runs get these tools as they were shown.',
  access: 'connectors',
  params: z.strictObject({ connector: z.string().min(1).max(CONNECTOR_CHARS_MAX) }),
  body: shapes.approveBody,
  idempotent: true,
  answers: { 200: { description: 'They are approved.', schema: shapes.approved } },
  async handle(asked) {
    const { desk, person, params, body } = asked;
    const { connector } = params;
    const { connectors: now } = desk;
    if (now === undefined || !now.names.includes(connector)) throw notFound();
    const what = { approve: connector, tools: body.tools as unknown as Json };
    return once(asked, what, async ({ at }) => {
      const { tenant, id: by, via } = person;
      try {
        const tools = await wantedOf(now, { tenant, connector, wanted: body.tools });
        await approveTools(desk.store, { tenant, connector, tools, by, via, at });
        const approved = tools.map(({ name, hash }) => ({ name, hash }));
        return { status: 200, body: { approved } };
      } catch (error) {
        if (error instanceof Problem && error.status === 409) {
          const facts = { decision: 'approve_tools', connector, reason: error.facts.code };
          await note(desk, person, { kind: 'decision_refused', facts });
        }
        throw error;
      }
    });
  },
});

interface Wanted {
  readonly tenant: string;
  readonly connector: string;
  readonly wanted: z.output<typeof shapes.approveBody>['tools'];
}

/** Errors: a Problem. */
async function wantedOf(
  now: ConnectorsNow,
  { tenant, connector, wanted }: Wanted,
): Promise<readonly SurveyedTool[]> {
  const found = await now.anew(tenant, connector);
  if (found === undefined || found.status === 'failed') {
    throw new Problem(503, {
      code: 'connector_down',
      detail: `The server of ${connector} does not answer, so nothing was approved.`,
      hint: 'Try again when it answers.',
    });
  }
  const seen = asShown(found, wanted);
  if ('tools' in seen) return seen.tools;
  throw new Problem(409, {
    code: 'tool_changed',
    detail: `The server describes ${seen.changed} otherwise than it was shown, or has it no more. Nothing was approved.`,
    hint: 'Look at what the server says now.',
  });
}

function shown({ tools, ...connector }: Surveyed, withDefinitions: boolean) {
  return {
    ...connector,
    tools: tools.map((tool) => {
      const {
        name,
        tool: named,
        state,
        effect,
        version,
        hash,
        problem,
        wentBack,
        definition,
      } = tool;
      return {
        name,
        tool: named,
        state,
        effect,
        version,
        hash,
        ...(problem !== undefined && { problem }),
        changes: toolChanges(tool),
        ...(wentBack !== undefined && { wentBack }),
        ...(withDefinitions && { definition: { ...definition } }),
      };
    }),
  };
}

export const connectorEndpoints: readonly Endpoint[] = [listConnectors, approve];
