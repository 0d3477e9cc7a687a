/**
 * To whom an agent may hand its run over (`handoffTo`), and the tool by which its model does so (G66, SA-05).
 * Invariant: whatever would fail later because of the declaration alone fails here, with a hint.
 */
import { z } from 'zod';
import { HoldfastError } from '../core/state/errors.js';
import {
  HANDOFF_TOOL,
  lastOf,
  type HandoffFilter,
  type HandoffTarget,
} from '../core/state/handoff.js';
import { defineTool } from './define-tool.js';
import { partDefect, shown, type KnownFields } from './known-fields.js';
import type { Tool } from './tool.js';

/** An agent to which a model may hand a run over, and what goes with it. */
export type HandoffDeclaration = string | HandoffChoice;

export interface HandoffChoice {
  readonly agent: string;
  /** Default: `all`; with `run: 'new'`: `summary`. */
  readonly filter?: HandoffFilter;
  /** new: another run goes on with the task, and this one ends; default: this run goes on under the other agent. */
  readonly run?: 'same' | 'new';
}

const CHOICE: KnownFields<HandoffChoice> = { agent: true, filter: true, run: true };

const TARGETS_MAX = 20;
const AGENT_CHARS_MAX = 64;
const SUMMARY_CHARS_MAX = 4_000;
const LAST_MAX = 1_000;

/** The same tool for every agent; what it says of the agents is added where it is offered. */
export const handoffTool: Tool = defineTool({
  name: HANDOFF_TOOL,
  version: '1',
  kind: 'handoff',
  effect: 'none',
  description:
    'Hands this task over to another agent, which goes on in your place. Say in the summary what was done and what is left; give facts that it needs as state.',
  input: z.object({
    to: z.string().min(1).max(AGENT_CHARS_MAX),
    summary: z.string().min(1).max(SUMMARY_CHARS_MAX),
    state: z.record(z.string(), z.unknown()).optional(),
  }),
  // The core hands over; no worker ever gets the call.
  run: () => undefined,
});

/** The tools of an agent as a model is offered them. */
export function withTargets(tools: readonly Tool[], targets: readonly HandoffTarget[]) {
  const names = targets
    .map(({ agent, run }) => (run === 'new' ? `${agent} (in a run of its own)` : agent))
    .join(', ');
  return tools.map((tool) =>
    tool === handoffTool ? { ...tool, description: `${tool.description} Agents: ${names}.` } : tool,
  );
}

export function handoffTargets(
  agent: string,
  declared: readonly HandoffDeclaration[] | undefined,
): readonly HandoffTarget[] {
  if (declared === undefined) return [];
  if (!Array.isArray(declared) || declared.length > TARGETS_MAX) {
    throw wrong(agent, 'its handoffTo is not usable', `List at most ${TARGETS_MAX} agents.`);
  }
  const targets = (declared as readonly HandoffDeclaration[]).map((one) => targetOf(agent, one));
  const twice = targets.find(
    (one, index) => targets.findIndex((other) => other.agent === one.agent) !== index,
  );
  if (twice !== undefined) {
    throw wrong(agent, `its handoffTo names ${twice.agent} twice`, 'Name each agent once.');
  }
  return Object.freeze(targets);
}

function targetOf(agent: string, declared: HandoffDeclaration): HandoffTarget {
  const given = typeof declared === 'string' ? { agent: declared } : declared;
  const defect = partDefect('handoffTo', given, CHOICE);
  if (defect !== undefined) throw wrong(agent, defect.what, defect.hint);
  const {
    agent: to,
    run = 'same',
    filter = run === 'new' ? 'summary' : 'all',
  }: Partial<HandoffChoice> = given;
  if (typeof to !== 'string' || to === '' || to.length > AGENT_CHARS_MAX) {
    throw wrong(
      agent,
      'its handoffTo names no agent',
      "Write handoffTo: ['billing'] or handoffTo: [{ agent: 'billing', filter: 'summary' }].",
    );
  }
  if (to === agent) {
    throw wrong(agent, 'its handoffTo names the agent itself', 'Name the other agents alone.');
  }
  const last = typeof filter === 'string' ? lastOf(filter) : undefined;
  const known = filter === 'all' || filter === 'none' || filter === 'summary';
  if (!known && (last === undefined || last < 1 || last > LAST_MAX)) {
    const hint = `Use 'all', 'none', 'summary' or 'last N', with N from 1 to ${LAST_MAX}.`;
    throw wrong(agent, `the filter of its handoff to ${to} is ${shown(filter)}`, hint);
  }
  if (run !== 'same' && run !== 'new') {
    throw wrong(agent, `its handoff to ${to} has run ${shown(run)}`, "Use 'same' or 'new'.");
  }
  if (run === 'new' && filter !== 'summary' && filter !== 'none') {
    const hint = "Use 'summary' or 'none': the conversation stays with the run that hands over.";
    throw wrong(agent, `the filter of its handoff to a new run of ${to} is ${shown(filter)}`, hint);
  }
  return Object.freeze({ agent: to, filter, ...(run === 'new' && { run }) });
}

function wrong(agent: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidAgent', `Agent ${agent}: ${what}.`, { hint });
}
