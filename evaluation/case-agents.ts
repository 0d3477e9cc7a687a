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

function startable({ goal, agents, handoffTo = [], subAgents }: Staffed): readonly string[] {
  if (goal !== undefined) return [];
  if (subAgents !== undefined) return subAgents;
  const others = [...agents.values()];
  const targets = [...handoffTo, ...others.flatMap((one) => one.handoffTo ?? [])].map((to) =>
    typeof to === 'string' ? to : to.agent,
  );
  const below = new Set([...targets, ...others.flatMap((one) => one.subAgents ?? [])]);
  return [...agents.keys()].filter((name) => !below.has(name));
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
