/** From a written fixture that the schema has accepted to the case that engines play. */
import type { HandoffDeclaration } from '../authoring/index.js';
import { teamProblems } from './case-agents.js';
import { momentOf } from './convert-during.js';
import { checkTools, goalOf, goalProblems } from './convert-goal.js';
import { answerOf, scriptOf, toolResultOf, toolsNamedIn, usageOf } from './convert-script.js';
import { taskOf } from './convert-task.js';
import { declaredTools, toolOf } from './convert-tools.js';
import { servedTool, serverProblems, serversOf } from './convert-servers.js';
import { CASE_AGENT } from './fixture.js';
import type {
  CaseAgent,
  CaseBudget,
  CasePolicyRule,
  CasePrice,
  CaseSession,
  CaseSettings,
  CaseTool,
  Fixture,
  JsonObject,
  ScriptedLook,
  ScriptedSummary,
  SessionMessage,
} from './fixture.js';
import type { FixtureDocument } from './format/document.js';
import { mockedScript } from './mocked-script.js';
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
  const agents = agentsOf(document.agents ?? {});
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
      ...toolsOf(own, [
        ...(document.offered === undefined ? [] : own.keys()),
        ...manifest,
        ...[...agents.values()].flatMap((agent) => agent.tools ?? []),
      ]),
    ]),
    manifest,
    servers: serversOf(document),
    agents,
    ...(document.subAgents !== undefined && { subAgents: document.subAgents }),
    ...handoffsOf(document.handoffTo),
    runs,
    ...supervisorOf(document.supervise),
    sessions,
    model,
    compaction: (document.compaction ?? []).map(summaryOf),
    hooks: document.hooks ?? {},
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
  'agents',
  'subAgents',
  'offered',
  'runs',
  'supervise',
  'goalLoop',
  'profile',
  'mcp',
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

function budgetOf({ profile, budget = {} }: FixtureDocument): CaseBudget {
  return profile === 'strict001' ? { emptyResponseRetries: 0, ...budget } : budget;
}

const STRICT_001: Partial<CaseSettings> = {
  onDeny: 'refuse',
  onInvalid: 'refuse',
  onToolFailure: { mode: 'stop', threshold: 1, outcome: 'tool_failure' },
};

const DEFAULT_PRICE: CasePrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

function settingsOf({
  profile,
  settings = {},
}: Pick<FixtureDocument, 'profile' | 'settings'>): CaseSettings {
  const { pricing, unknownModelPricing, ...rest } = settings;
  const prices = Object.entries(pricing ?? { '*': DEFAULT_PRICE });
  return {
    ...(profile === 'strict001' && STRICT_001),
    ...rest,
    pricing: new Map(prices.map(([model, price]) => [model, priceOf(price)])),
    ...(unknownModelPricing !== undefined && {
      unknownModelPricing:
        typeof unknownModelPricing === 'string'
          ? unknownModelPricing
          : priceOf(unknownModelPricing),
    }),
  };
}

/** Without prices of its own, the cache costs in proportion what it costs in the default table. */
function priceOf(written: Pick<CasePrice, 'input' | 'output'> & Partial<CasePrice>): CasePrice {
  return { cacheRead: written.input * 0.1, cacheWrite: written.input * 1.25, ...written };
}

function agentsOf(written: Written<'agents'>): ReadonlyMap<string, CaseAgent> {
  return new Map(Object.entries(written).map(([name, one]) => [name, agentOf(one)]));
}

/** The schema has checked the form. */
function agentOf(written: Written<'agents'>[string]): CaseAgent {
  const { model, budget = {}, settings, handoffTo, ...rest } = written;
  return {
    ...(rest as Omit<CaseAgent, 'model' | 'budget' | 'settings' | 'handoffTo'>),
    ...(model !== undefined && { model: scriptOf(model) }),
    budget,
    ...(settings !== undefined && { settings: settingsOf({ settings }) }),
    ...handoffsOf(handoffTo),
  };
}

function runsOf(written: Written<'runs'>): Fixture['runs'] {
  return new Map(Object.entries(written).map(([place, { model }]) => [place, scriptOf(model)]));
}

/** The schema has checked the form. */
function supervisorOf(written: FixtureDocument['supervise']): Pick<Fixture, 'supervisor'> {
  if (written === undefined) return {};
  const { name, every, on, roles, says } = written;
  return {
    supervisor: {
      ...(name !== undefined && { name }),
      ...(every !== undefined && { every }),
      ...(on !== undefined && { on }),
      ...(roles !== undefined && { roles }),
      says: says.map(lookOf),
    },
  };
}

function lookOf(written: Written<'supervise'>['says'][number]): ScriptedLook {
  if ('error' in written) return { kind: 'error', message: written.error };
  if ('answer' in written) {
    return { kind: 'answer', text: written.answer, usage: usageOf(written.usage) };
  }
  const { decision, because = 'The case says so.', text, usage } = written;
  const word = { decision, because, ...(text !== undefined && { text }) };
  return { kind: 'answer', text: JSON.stringify(word), usage: usageOf(usage) };
}

function handoffsOf(written: Written<'handoffTo'> | undefined): Pick<CaseAgent, 'handoffTo'> {
  return written === undefined ? {} : { handoffTo: written as readonly HandoffDeclaration[] };
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
