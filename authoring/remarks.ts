/**
 * What a configuration or a start says that is allowed and yet hardly meant: names that match no tool, which forbid and allow
 * nothing without a word, conditions on arguments that there are not, and approvals that expire at once.
 * Invariant: told is what is certain alone. A name that a connector may give is none, nor one that matches where another agent
 * says it: rules are shared.
 */
import { matchesGlob } from '../core/hooks/start.js';
import { matchesName, type PolicyRule } from '../core/state/policy.js';
import type { SettingsOverrides, StartInput } from '../core/state/task.js';
import { didYouMean } from '../pure/nearest-names.js';
import { withoutUnseen } from '../pure/unseen.js';
import type { Agent } from './agent.js';
import { agent as startAgent } from './agent-tool.js';
import { CONNECTOR_PREFIX } from './connectors.js';
import { mayHave } from './declared-fields.js';
import type { Config } from './define-config.js';
import { GOAL_TOOL_LIST } from './goal/goal-tools.js';
import { shown } from './known-fields.js';

/** Starts and goals give these to any agent. */
const BROUGHT = [startAgent, ...GOAL_TOOL_LIST];

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
  const named = [
    ...namedIn(
      'The defaults',
      listed('settings.', defaults.settings),
      toolsWithin(agents.values(), agents),
    ),
    ...[...agents.values()].flatMap((agent) =>
      namedIn(`Agent ${agent.name}`, listsIn(agent), toolsWithin([agent], agents)),
    ),
  ];
  const known = new Set<string>();
  const unknown = new Map<string, Named>();
  for (const one of named) {
    if (isKnown(one)) known.add(readAs(one));
    // Each is told of the agent that says it first.
    else if (!unknown.has(one.stands)) unknown.set(one.stands, one);
  }
  const short = [...tools.values()].flatMap(({ record: { name, approval } }) => {
    const ms = (typeof approval === 'object' && approval.expiresInMs) || SHORT_MS;
    return ms < SHORT_MS
      ? `Tool ${name}: its approval expires after ${ms} ms; expiresInMs is milliseconds: seconds(…), minutes(…), hours(…).`
      : [];
  });
  const names = [...unknown.values()].filter((one) => !known.has(readAs(one)));
  return bounded([...short, ...unknownPaths(config), ...names], LINES_MAX);
}

/** Conditions of rules on an argument that no tool of the rule takes: such a rule is about no call. */
function unknownPaths({ agents, tools }: Config): readonly string[] {
  const all = [...tools.values(), ...BROUGHT];
  const lines = [...agents.values()].flatMap(({ name, policy }) =>
    policy.rules.flatMap(({ tool, when }, at): (readonly [string, string])[] => {
      const about = all.filter(({ record }) => matchesName(tool, record.name));
      // What must be missing is missing.
      if (when === undefined || when.exists === false || about.length === 0) return [];
      const path = when.path.split('.');
      if (about.some(({ inputSchema }) => mayHave(inputSchema, path))) return [];
      if (isOfConnectors({ tool, when }, agents)) return [];
      const known = about.flatMap(({ inputSchema }) =>
        Object.keys((inputSchema as { readonly properties?: object }).properties ?? {}),
      );
      const stands = `policy.rules[${at}].when.path is ${shown(when.path)}`;
      const meant = known.includes(path[0] ?? '') ? '' : didYouMean(path[0], known);
      const line = `Agent ${name}: ${stands}, which no tool of the rule takes. ${meant}`;
      return [[`${tool} ${stands}`, line.trimEnd()]];
    }),
  );
  // A role has the rules of its agent: the first of them is told.
  const places = lines.map(([place]) => place);
  return lines.filter(([place], at) => places.indexOf(place) === at).map(([, line]) => line);
}

/** A connector of any agent that has the rule, or that works below one, may have tools that take it. */
function isOfConnectors(
  { tool, when }: Pick<PolicyRule, 'tool' | 'when'>,
  agents: Config['agents'],
): boolean {
  const sayers = [...agents.values()].filter(({ policy }) =>
    policy.rules.some((rule) => rule.tool === tool && rule.when?.path === when?.path),
  );
  return [...toolsWithin(sayers, agents)].some(
    (one) => one.startsWith(CONNECTOR_PREFIX) && mayMatch(tool, one, false),
  );
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

function lineOf(one: Named): string {
  const { subject, stands, name, tools } = one;
  const meant = didYouMean(name, [...tools].slice(0, NEAR_AMONG));
  const line = `${subject}: ${stands}, which matches no tool. ${starOf(one)}${meant}`;
  // A name may come from outside.
  return withoutUnseen(line.trimEnd(), '?');
}

function starOf({ name, stands }: Named): string {
  if (isOfTask(stands)) return name.includes('*') ? 'A * stands for nothing there. ' : '';
  return STAR_INSIDE.test(name) && !isOfHook(stands) ? 'Only a * at the end counts. ' : '';
}

const STAR_INSIDE = /\*./;

function namedIn(subject: string, lists: Lists, tools: Names): Named[] {
  return lists.flatMap(([place, names = []]) =>
    names.map((name, at) => {
      const stands = `${place}[${at}] is ${shown(name)}`;
      return { subject, name, stands, tools };
    }),
  );
}

function isKnown({ name, stands, tools }: Named): boolean {
  if (isOfTask(stands) && name.includes('*')) return false;
  return [...tools].some((tool) => mayMatch(name, tool, isOfHook(stands)));
}

/** Hooks alone give a meaning to a `*` inside: what they match so, no list does. */
function readAs({ name, stands }: Named): string {
  return STAR_INSIDE.test(name) && isOfHook(stands) ? `hook ${name}` : name;
}

function isOfTask(stands: string): boolean {
  return stands.startsWith('task.');
}

function isOfHook(stands: string): boolean {
  return stands.startsWith('hook ');
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
export function toolsWithin(first: Iterable<Agent>, agents: Config['agents']): Names {
  const names = new Set(BROUGHT.map(({ record }) => record.name));
  const met = new Set<Agent | undefined>(first);
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

/** As the core matches them; of a tool that ends in `*` the rest may be anything but a `*`. */
function mayMatch(name: string, tool: string, isGlob: boolean): boolean {
  if (!tool.endsWith('*')) return isGlob ? matchesGlob(name, tool) : matchesName(name, tool);
  const known = tool.slice(0, -1);
  const head = name.replace(isGlob ? /\*.*/ : /\*$/, '');
  if (head.includes('*')) return false;
  return head.startsWith(known) || (head !== name && known.startsWith(head));
}
