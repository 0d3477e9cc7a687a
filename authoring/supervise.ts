/**
 * Who supervises the runs of an agent (SA-07), checked.
 * Invariant: a supervisor has nothing to act with: no tools, connectors, sub-agents, handoffs or hooks.
 */
import { z } from 'zod';
import { HoldfastError } from '../core/state/errors.js';
import { WATCHED_EVENTS, type WatchedEvent } from '../core/state/supervision.js';
import type { Agent, Supervisor } from './agent.js';
import { parseFields } from './parse-fields.js';

/** An agent looks at the runs of another one, and may steer them, interrupt them, or ask a person. */
export interface SuperviseDeclaration {
  /** Made with `defineAgent`: its model and instructions. It may have nothing else. */
  readonly agent: Agent;
  /** A look after so many turns, 1 to 1000. */
  readonly every?: { readonly turns: number };
  /** A look after any event of these types, before the next request. */
  readonly on?: readonly WatchedEvent[];
  /** Who answers the questions of the supervisor; default: anybody who may answer questions. */
  readonly roles?: readonly string[];
}

const ROLES_MAX = 20;
const ROLE_CHARS_MAX = 64;
const TURNS_MAX = 1_000;

const schema = z
  .strictObject({
    agent: z.unknown(),
    every: z.strictObject({ turns: z.number().int().min(1).max(TURNS_MAX) }).optional(),
    on: z.array(z.enum(WATCHED_EVENTS)).min(1).optional(),
    roles: z.array(z.string().min(1).max(ROLE_CHARS_MAX)).max(ROLES_MAX).optional(),
  })
  .refine(({ every, on }) => every !== undefined || on !== undefined, {
    message: 'nothing says when the supervisor looks',
  });

const HINT =
  "Write supervise: {agent, every: {turns: 3}} or {agent, on: ['tool_finished']}; the events are";

export function supervisorOf(
  name: string,
  declared: SuperviseDeclaration | undefined,
): Supervisor | undefined {
  if (declared === undefined) return undefined;
  const parsed = parseFields(schema, declared);
  if (!parsed.success) {
    const why = z.prettifyError(parsed.error).replaceAll(/\s+/g, ' ');
    throw wrong(
      name,
      `its supervise is not allowed (${why})`,
      `${HINT} ${WATCHED_EVENTS.join(', ')}.`,
    );
  }
  const { every, on, roles = [] } = parsed.data;
  const { agent } = declared;
  checkSupervisor(name, agent);
  return Object.freeze({
    agent,
    roles: Object.freeze([...roles]),
    ...(every !== undefined && { everyTurns: every.turns }),
    ...(on !== undefined && { on: Object.freeze([...new Set(on)]) }),
  });
}

function checkSupervisor(name: string, agent: Agent): void {
  if (typeof agent?.name !== 'string' || agent.policy === undefined) {
    throw wrong(name, 'its supervisor is no agent', 'Make it with defineAgent({…}).');
  }
  const { tools, mcp, hooks, handoffTo, agents, supervisor } = agent;
  const powers = [...tools, ...mcp, ...hooks, ...handoffTo, ...(agents?.keys() ?? [])];
  if (powers.length === 0 && supervisor === undefined) return;
  const hint =
    'Give the supervisor instructions and a model alone: it steers, interrupts or asks, and does nothing else.';
  throw wrong(name, `its supervisor ${agent.name} has more than instructions`, hint);
}

function wrong(agent: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidAgent', `Agent ${agent}: ${what}.`, { hint });
}
