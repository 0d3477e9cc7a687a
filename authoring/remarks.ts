/**
 * What a configuration or a start says that is allowed and yet hardly meant: names that match no tool, which forbid and allow
 * nothing without a word, conditions on arguments that there are not, and approvals that expire at once.
 * Invariant: told is what is certain alone. A name that a connector may give is none, nor one that matches where another agent
 * says it: rules are shared.
 */
import { matchesGlob } from '../core/hooks/start.js';
import { GOAL_TOOLS } from '../core/state/goal/proposal.js';
import { AGENT_TOOL } from '../core/state/sub-agent.js';
import type { Json } from '../core/json/json.js';
import type { SettingsOverrides, StartInput } from '../core/state/task.js';
import { didYouMean } from '../pure/nearest-names.js';
import { withoutUnseen } from '../pure/unseen.js';
import type { Agent } from './agent.js';
import { isInSchema } from './card.js';
import { CONNECTOR_PREFIX } from './connectors.js';
import type { Config } from './define-config.js';
import { shown } from './known-fields.js';
import type { Tool } from './tool.js';

/** Names of tools, by the place where the list stands. */
type Lists = readonly (readonly [place: string, names: readonly string[] | undefined])[];

/** Names of tools; one that ends in `*` has a rest that nobody knows before a run is opened. */
type Names = ReadonlySet<string>;

interface Named {
  readonly subject: string;
  readonly name: string;
  /** The place and the name: the same of a role and of the agent that declares it. */
  readonly stands: string;
  readonly tools: Names;
}

const LINES_MAX = 20;
/** Whoever starts a run decides how much of this there is. */
const LINES_OF_START = 5;
const NAMES_OF_START = 100;
/** Tools among which a near name is looked for. */
const NEAR_AMONG = 200;
/** Nobody answers faster. */
const SHORT_MS = 1_000;

const told = new WeakSet<Config>();

/** What nobody in this process has been told, however many of its workers serve the configuration. */
export function newRemarks(config: Config): readonly string[] {
  if (told.has(config)) return [];
  told.add(config);
  const { agents, tools, defaults } = config;
  const all = new Set([...agents.values()].flatMap((agent) => [...toolsWithin(agent, agents)]));
  const named = [
    ...namedIn('The defaults', listed('settings.', defaults.settings), all),
    ...[...agents.values()].flatMap((agent) =>
      namedIn(`Agent ${agent.name}`, listsIn(agent), toolsWithin(agent, agents)),
    ),
  ];
  const known = new Set<string>();
  const unknown = new Map<string, Named>();
  for (const one of named) {
    if (isKnown(one)) known.add(one.name);
    // Each is told of the agent that says it first.
    else if (!unknown.has(one.stands)) unknown.set(one.stands, one);
  }
  const short = [...tools.values()].flatMap(({ record: { name, approval } }) => {
    const ms = (typeof approval === 'object' && approval.expiresInMs) || SHORT_MS;
    return ms < SHORT_MS
      ? `Tool ${name}: its approval expires after ${ms} ms; expiresInMs is milliseconds: seconds(…), minutes(…), hours(…).`
      : [];
  });
  const paths = [...agents.values()].flatMap((agent) => unknownPaths(agent, [...tools.values()]));
  const names = [...unknown.values()].filter(({ name }) => !known.has(name));
  return bounded([...short, ...paths, ...names], LINES_MAX);
}

/** Conditions of rules on an argument that no tool of the rule takes: such a rule is about no call. */
function unknownPaths({ name, policy, mcp }: Agent, tools: readonly Tool[]): readonly string[] {
  return policy.rules.flatMap(({ tool, when }, at) => {
    const about = tools.filter(({ record }) => matchesGlob(tool, record.name));
    const path = when?.path.split('.') ?? [];
    const isSure = about.length > 0 && (mcp.length === 0 || !tool.includes('*'));
    if (!isSure || about.some(({ inputSchema }) => mayTake(inputSchema, path))) return [];
    const known = about.flatMap(({ inputSchema }) =>
      Object.keys((inputSchema as { readonly properties?: object }).properties ?? {}),
    );
    const place = `policy.rules[${at}].when.path`;
    const meant = known.includes(path[0] ?? '') ? '' : didYouMean(path[0], known);
    return `Agent ${name}: ${place} is ${shown(when?.path)}, which no tool of the rule takes. ${meant}`.trimEnd();
  });
}

function mayTake(schema: Json, path: readonly string[]): boolean {
  const { additionalProperties: others = false } = schema as {
    readonly additionalProperties?: Json;
  };
  return others !== false || isInSchema(schema, path);
}

/** Names that match no tool, of the first of a start; in lists of the task a `*` stands for nothing. */
export function remarksOnStart(
  subject: string,
  { task, settings = {}, agents = {} }: Pick<StartInput, 'task' | 'settings' | 'agents'>,
  tools: Names,
): readonly string[] {
  const lists: Lists = [
    ['task.allowedActions', task.allowedActions],
    ['task.forbiddenActions', task.forbiddenActions],
    ...listed('settings.', settings),
    ...Object.entries(agents).flatMap(([name, role]) => listed(`agents.${name}.`, role)),
  ];
  const named = namedIn(subject, lists, tools).slice(0, NAMES_OF_START);
  return bounded(
    named.filter((one) => !isKnown(one)),
    LINES_OF_START,
  );
}

/** What is shown alone is put into words: near names take their time. */
function bounded(found: readonly (string | Named)[], max: number): readonly string[] {
  const lines = found.slice(0, max).map((one) => (typeof one === 'string' ? one : lineOf(one)));
  const more = found.length - max;
  return more <= 0 ? lines : [...lines, `And ${more} more.`];
}

function lineOf({ subject, stands, name, tools }: Named): string {
  const meant = didYouMean(name, [...tools].slice(0, NEAR_AMONG));
  // A name may come from outside.
  return withoutUnseen(`${subject}: ${stands}, which matches no tool. ${meant}`.trimEnd(), '?');
}

function namedIn(subject: string, lists: Lists, tools: Names): Named[] {
  return lists.flatMap(([place, names = []]) =>
    names.map((name, at) => {
      const stands = `${place}[${at}] is ${shown(name)}`;
      return { subject, name, stands, tools };
    }),
  );
}

function isKnown({ name, stands, tools }: Named): boolean {
  if (stands.startsWith('task.') && name.includes('*')) return false;
  return tools.has(name) || matches(name, tools);
}

function listsIn({ policy, hooks, settings, agents = new Map() }: Agent): Lists {
  return [
    ['policy.rules', policy.rules.map(({ tool }) => tool)],
    ...hooks.map(({ name, match }) => [`hook ${name} match.tools`, match?.tools] as const),
    ...listed('settings.', settings),
    ...[...agents].flatMap(([name, one]) => listed(`sub-agent ${name} `, one.settings)),
  ];
}

function listed(
  of: string,
  {
    allowedTools,
    disallowedTools,
  }: Partial<Pick<SettingsOverrides, 'allowedTools' | 'disallowedTools'>>,
): Lists {
  return [
    [`${of}allowedTools`, allowedTools],
    [`${of}disallowedTools`, disallowedTools],
  ];
}

/** Of sub-agents and of whoever may take a run over, too: what forbids counts for them as well. */
export function toolsWithin(agent: Agent, agents: Config['agents']): Names {
  // Starts and goals give these to any agent.
  const names = new Set<string>([AGENT_TOOL, ...GOAL_TOOLS]);
  const met = new Set<Agent | undefined>([agent]);
  // Those that are added meanwhile are met as well.
  for (const one of met) {
    for (const { record } of one?.tools ?? []) names.add(record.name);
    for (const used of one?.mcp ?? [])
      names.add(used.startsWith(CONNECTOR_PREFIX) ? used : `${CONNECTOR_PREFIX}${used}__*`);
    for (const below of one?.agents?.values() ?? []) met.add(below.agent);
    for (const next of one?.handoffTo ?? []) met.add(agents.get(next.agent));
  }
  return names;
}

function matches(name: string, tools: Names): boolean {
  return [...tools].some((tool) =>
    tool.endsWith('*')
      ? matchesGlob(tool, name) || matchesGlob(name.replace(/\*.*/, '*'), tool)
      : matchesGlob(name, tool),
  );
}
