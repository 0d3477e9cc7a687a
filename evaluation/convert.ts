/** From a written fixture that the schema has accepted to the case that engines play. */
import { teamProblems } from './case-agents.js';
import { agentsOf, handoffsOf, runsOf, supervisorOf } from './convert-agents.js';
import { budgetOf, settingsOf } from './convert-limits.js';
import { momentOf } from './convert-during.js';
import { checkTools, goalOf, goalProblems } from './convert-goal.js';
import { answerOf, scriptOf, toolResultOf, toolsNamedIn, usageOf } from './convert-script.js';
import { taskOf } from './convert-task.js';
import { declaredTools, toolOf } from './convert-tools.js';
import { servedTool, serverProblems, serversOf } from './convert-servers.js';
import { CASE_AGENT } from './fixture.js';
import type {
  CaseAgent,
  CasePolicyRule,
  CaseSession,
  CaseTool,
  Fixture,
  JsonObject,
  ScriptedSummary,
  SessionMessage,
} from './fixture.js';
import type { FixtureDocument } from './format/document.js';
import { mockedScript } from './mocked-script.js';
import { withImplied, withoutStarters } from './implied-agents.js';
import type { Script } from './script.js';
import { TOOLBOX } from './toolbox.js';

type Written<Key extends keyof FixtureDocument> = NonNullable<FixtureDocument[Key]>;

export type Converted =
  | { readonly ok: true; readonly fixture: Fixture }
  | { readonly ok: false; readonly problems: readonly string[] };

export function convert(document: FixtureDocument, file: string): Converted {
  const declared = declaredTools(document);
  const problems = [
    ...declared.problems,
    ...goalProblems(document),
    ...agentProblems(document),
    ...teamProblems(document),
    ...serverProblems(document, declared.tools),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const own = new Map(
    [...declared.tools].map(([name, written]): [string, CaseTool] => [
      name,
      toolOf(name, written, servedTool(document, name, written)),
    ]),
  );
  const model = modelOf(document, own);
  const team = withImplied(document, agentsOf(document.agents ?? {}));
  const { agents } = team;
  const runs = runsOf(document.runs ?? {});
  const sessions = (document.sessions ?? []).map(sessionOf);
  const goal = goalOf(document, CASE_AGENT);
  const cycles = goal?.cycles.map((cycle) => cycle.model) ?? [];
  const scripts = [model, ...cycles, ...runs.values(), ...scriptsOf(agents, sessions)];
  const manifest = manifestOf({ document, own, scripts });
  const during = (document.during ?? []).map(momentOf);
  const fixture: Fixture = {
    caseId: document.case_id,
    ...(document.title !== undefined && { title: document.title }),
    ...ownAgentOf(document),
    ...(document.captured !== undefined && { isCaptured: true }),
    ...(document.instructions !== undefined && { instructions: document.instructions }),
    file,
    task: taskOf(document),
    budget: budgetOf(document),
    settings: settingsOf(document),
    policy: (document.policy ?? []) as readonly CasePolicyRule[],
    tools: new Map([
      ...checkTools(document, own),
      ...withoutStarters(document, toolsOf(own, namedTools({ document, own, manifest, agents }))),
    ]),
    manifest,
    servers: serversOf(document),
    ...team,
    ...handoffsOf(document.handoffTo),
    runs,
    ...supervisorOf(document.supervise),
    sessions,
    model,
    compaction: (document.compaction ?? []).map(summaryOf),
    hooks: document.hooks ?? {},
    ...(document.namedHooks !== undefined && { namedHooks: document.namedHooks }),
    during,
    ...(goal !== undefined && { goal }),
    expected: document.expected,
    needsVirtualTime: during.some(({ actions }) => actions.some(({ kind }) => kind === 'advance')),
  };
  return { ok: true, fixture };
}

/** What a configuration says, a case of its agent does not say again. */
const OF_CONFIGURATION = [
  'instructions',
  'policy',
  'hooks',
  'namedHooks',
  'agents',
  'subAgents',
  'offered',
  'runs',
  'supervise',
  'goalLoop',
  'profile',
] as const;

function agentProblems(document: FixtureDocument): readonly string[] {
  const { agent, config, tools } = document;
  if (agent !== undefined) {
    return OF_CONFIGURATION.filter((key) => document[key] !== undefined).map(
      (key) => `${key}: is of the configuration, whose agent the case names`,
    );
  }
  return [
    ...(config === undefined ? [] : ['config: needs the name of its agent (agent)']),
    ...(tools === 'live' ? ['tools: "live" needs an agent of a configuration (agent)'] : []),
  ];
}

function ownAgentOf({ agent, config, tools }: FixtureDocument): Pick<Fixture, 'ownAgent'> {
  if (agent === undefined) return {};
  const file = config === undefined ? {} : { configFile: config };
  return { ownAgent: { name: agent, live: tools === 'live', ...file } };
}

function modelOf(document: FixtureDocument, own: ReadonlyMap<string, CaseTool>): Script {
  if (document.model !== undefined) return scriptOf(document.model);
  const mocked = Object.keys(document.mocked_tools ?? {}).flatMap((name) => own.get(name) ?? []);
  return mocked.length === 0 ? [] : mockedScript(mocked);
}

function scriptsOf(
  agents: ReadonlyMap<string, CaseAgent>,
  sessions: readonly CaseSession[],
): readonly Script[] {
  const earlier = sessions.flatMap(({ messages }) =>
    messages.flatMap((message) => (message.kind === 'assistant' ? [message.reply] : [])),
  );
  const remembered: Script = earlier.map((reply) => ({ times: 1, reply }));
  return [
    ...[...agents.values()].flatMap((agent) => (agent.model ? [agent.model] : [])),
    remembered,
  ];
}

/** Of all agents; a case that says what its agent is offered may declare more. */
function namedTools(named: {
  readonly document: FixtureDocument;
  readonly own: ReadonlyMap<string, CaseTool>;
  readonly manifest: readonly string[];
  readonly agents: Fixture['agents'];
}): readonly string[] {
  const { document, own, manifest, agents } = named;
  return [
    ...(document.offered === undefined ? [] : own.keys()),
    ...manifest,
    ...[...agents.values()].flatMap((agent) => agent.tools ?? []),
  ];
}

/** Tools that exist and that the case names: in `tools`, in `allowedActions`, in a reply. */
function manifestOf(named: {
  readonly document: FixtureDocument;
  readonly own: ReadonlyMap<string, CaseTool>;
  readonly scripts: readonly Script[];
}): readonly string[] {
  const { document, own, scripts } = named;
  if (document.offered !== undefined)
    return document.offered.filter((name) => own.has(name) || TOOLBOX.has(name)).toSorted();
  const names = new Set([
    ...own.keys(),
    ...(document.task?.allowedActions ?? []),
    ...scripts.flatMap(toolsNamedIn),
  ]);
  return [...names].filter((name) => own.has(name) || TOOLBOX.has(name)).toSorted();
}

function toolsOf(
  own: ReadonlyMap<string, CaseTool>,
  names: readonly string[],
): ReadonlyMap<string, CaseTool> {
  return new Map(
    names.flatMap((name): [string, CaseTool][] => {
      const tool = own.get(name) ?? TOOLBOX.get(name);
      return tool === undefined ? [] : [[name, tool]];
    }),
  );
}

function sessionOf(written: Written<'sessions'>[number]): CaseSession {
  const { id, messages, state, reactiveCompacted = false } = written;
  return {
    id,
    messages: messages.map(messageOf),
    ...(state !== undefined && { state: state as JsonObject }),
    reactiveCompacted,
  };
}

function messageOf(written: Written<'sessions'>[number]['messages'][number]): SessionMessage {
  if (written.assistant !== undefined) {
    return { kind: 'assistant', reply: answerOf(written.assistant) };
  }
  if (written.results !== undefined) {
    const results = Object.entries(written.results);
    return {
      kind: 'results',
      results: new Map(results.map(([id, result]) => [id, toolResultOf(result)])),
    };
  }
  return { kind: 'user', text: written.user ?? '' };
}

function summaryOf(written: Written<'compaction'>[number]): ScriptedSummary {
  if ('error' in written) return { kind: 'error', message: written.error };
  const { summary, tokens, usage } = written;
  return {
    kind: 'summary',
    ...(summary !== undefined && { text: summary }),
    ...(tokens !== undefined && { tokens }),
    usage: usageOf(usage),
  };
}
