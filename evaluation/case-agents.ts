/** The other agents of a case: who they are, who starts them, and which run says what. */
import type { FixtureDocument } from './format/document.js';
import type { Fixture } from './fixture.js';

type Staffed = Pick<Fixture, 'agents' | 'goal' | 'handoffTo' | 'subAgents'>;

/** Whom the agent of a case may start by name, by its definition: of a goal nobody. */
export function subAgentNames(fixture: Staffed): readonly string[] {
  return startable(fixture).filter((name) => fixture.agents.get(name)?.start !== true);
}

/** Whom the start of the case brings along. */
export function broughtNames(fixture: Staffed): readonly string[] {
  return startable(fixture).filter((name) => fixture.agents.get(name)?.start === true);
}

/** Without goal: all to whom nobody hands over, and whom no other agent starts. */
export function startable(fixture: Staffed): readonly string[] {
  const { goal, agents, subAgents } = fixture;
  if (goal !== undefined) return [];
  if (subAgents !== undefined) return subAgents;
  const started = [...agents.values()].flatMap((one) => one.subAgents ?? []);
  const below = new Set([...handoffTargets(fixture), ...started]);
  return [...agents.keys()].filter((name) => !below.has(name));
}

/** Every run of the case is its own, or one that has the task of another: no agent starts a sub-agent. */
export function startsNobody(fixture: Pick<Fixture, 'tools'> & Staffed): boolean {
  const { agents, tools } = fixture;
  return (
    startable(fixture).length === 0 &&
    [...agents.values()].every(({ subAgents = [] }) => subAgents.length === 0) &&
    [...tools.values()].every(({ starts }) => starts === undefined)
  );
}

/** Who takes a run over from another agent. */
export function handoffTargets({
  agents,
  handoffTo = [],
}: Pick<Staffed, 'agents' | 'handoffTo'>): readonly string[] {
  const targets = [...handoffTo, ...[...agents.values()].flatMap((one) => one.handoffTo ?? [])];
  return targets.map((to) => (typeof to === 'string' ? to : to.agent));
}

type Written = Pick<FixtureDocument, 'agents' | 'captured' | 'runs' | 'subAgents' | 'tools'>;

/** What the agents of a case contradict each other in. */
export function teamProblems({
  agents = {},
  captured,
  runs,
  subAgents = [],
  tools = {},
}: Written): readonly string[] {
  const areScripted = runs !== undefined || captured !== undefined;
  const names = Object.keys(agents);
  const starting = tools === 'live' ? [] : Object.entries(tools);
  const named: readonly (readonly [string, readonly string[]])[] = [
    ['subAgents', subAgents],
    ...Object.entries(agents).map(
      ([name, one]) => [`agents.${name}.subAgents`, one.subAgents ?? []] as const,
    ),
    ...starting.map(
      ([name, { starts }]) =>
        [`tools.${name}.starts`, starts === undefined ? [] : [starts]] as const,
    ),
  ];
  const startedBy = (name: string): readonly string[] => {
    const { subAgents: below = [], tools: own = [] } = agents[name] ?? {};
    const byTools = starting.flatMap(([tool, { starts }]) =>
      starts !== undefined && own.includes(tool) ? [starts] : [],
    );
    return [...below, ...byTools];
  };
  return [
    ...named.flatMap(([path, used]) =>
      used
        .filter((name) => !names.includes(name))
        .map((name) => `${path}: there is no agent ${JSON.stringify(name)} in agents`),
    ),
    ...names.flatMap((name) => {
      const { model, start, handoffTo, subAgents: below } = agents[name]!;
      return [
        ...(model === undefined && !areScripted ? [`agents.${name}.model: is missing`] : []),
        ...(start === true && (handoffTo !== undefined || below !== undefined)
          ? [`agents.${name}: comes with the start, so it hands nothing over and starts nobody`]
          : []),
        ...(isBelowItself(name, startedBy) ? [`agents.${name}.subAgents: it starts itself`] : []),
      ];
    }),
  ];
}

function isBelowItself(name: string, startedBy: (name: string) => readonly string[]): boolean {
  const seen = new Set<string>();
  const waiting = [...startedBy(name)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === name) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...startedBy(next));
  }
  return false;
}
