/** Who could act in a run under test, and with which tools: an expectation about anything else is a slip of the finger. */
import { askPerson, escalate, type Config } from '../../authoring/index.js';
import { CONNECTOR_PREFIX } from '../../authoring/connectors.js';
import { shown } from '../../authoring/known-fields.js';
import { GOAL_TOOLS } from '../../core/state/goal/proposal.js';
import { HANDOFF_TOOL } from '../../core/state/handoff.js';
import { MESSAGE_TOOL } from '../../core/state/mail.js';
import { AGENT_TOOL } from '../../core/state/sub-agent.js';
import { didYouMean } from '../../pure/nearest-names.js';
import { roleOf } from './agent-role.js';
import { unfit } from './check-test.js';
import type { TestedRun } from './tested-run.js';

interface Cast {
  readonly tools: readonly string[];
  /** Own names: of `desk/auditor`, `auditor`. */
  readonly agents: readonly string[];
}

/** A run that somebody has copied is known no more, and nothing is refused of it. */
const CASTS = new WeakMap<object, Cast>();
const NAMES_SHOWN_MAX = 20;
/** The runtime's own, with which an agent may be made tomorrow. */
const OWN_TOOLS: readonly string[] = [
  askPerson.record.name,
  escalate.record.name,
  HANDOFF_TOOL,
  MESSAGE_TOOL,
  AGENT_TOOL,
  ...GOAL_TOOLS,
];

/** The run itself, remembered with everybody that its configuration has. */
export function withCast<Run extends object>(run: Run, { agents, tools }: Config): Run {
  const all = [...agents.values()];
  CASTS.set(run, {
    tools: [...tools.values(), ...all.flatMap((agent) => agent.tools)].map(
      ({ record }) => record.name,
    ),
    agents: all.flatMap((agent) => [roleOf(agent.name), ...(agent.agents?.keys() ?? [])]),
  });
  return run;
}

/** Errors: InvalidFixture for a tool or an agent that is neither in the configuration nor in the run. */
export function refuseStrangers(
  run: TestedRun<unknown>,
  { tool, agent }: { readonly tool?: string | undefined; readonly agent?: string | undefined },
): void {
  const cast = CASTS.get(run);
  if (cast === undefined) return;
  const { calls } = run;
  const isOwn = tool !== undefined && OWN_TOOLS.includes(tool);
  if (!isOwn && tool?.startsWith(CONNECTOR_PREFIX) !== true)
    refuseStranger('tool', tool, [...cast.tools, ...calls.map((call) => call.tool)]);
  const own = agent === undefined ? undefined : roleOf(agent);
  refuseStranger('agent', own, [...cast.agents, ...calls.map((call) => roleOf(call.agent))]);
}

function refuseStranger(what: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  const names = [...new Set(known)];
  const listed = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  throw unfit(
    `The run has no ${what} ${shown(name)}.`,
    `${didYouMean(name, names)}The ${what}s are ${listed === '' ? 'none' : listed}.`,
  );
}
