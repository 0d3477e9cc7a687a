/** The agents of a case as a worker's configuration, and the start of its run. */
import { defineConfig, type Config } from '../../authoring/index.js';
import type { MediaTaken } from '../../core/state/attachment.js';
import type { ModelRoute, Prices } from '../../core/state/model.js';
import type { StartInput, Task } from '../../core/state/task.js';
import { attachmentsOf } from '../case-files.js';
import { CASE_AGENT, type CasePrice, type Fixture } from '../fixture.js';
import { connectorsOf } from '../servers/config.js';
import { agentsOf, DEFAULT_MODEL, startedAgents, type CaseCode } from './agents.js';

/** Name of the provider behind every model of a case. */
export const PROVIDER = 'case';
export const AGENT = CASE_AGENT;

const DEFAULT_WINDOW = 200_000;
const OUTPUT_TOKENS_MAX = 1_000_000;
const USD = 1_000_000;

export function configOf(fixture: Fixture, code: CaseCode): Config {
  return defineConfig({
    agents: agentsOf(fixture, code),
    ...(fixture.servers.size > 0 && { mcp: connectorsOf(fixture) }),
    // What only checks of a goal run, no agent offers.
    retiredTools: [...code.tools]
      .filter(([name]) => fixture.tools.get(name)?.starts === undefined)
      .map(([, tool]) => tool),
    routes: routesFor(fixture, code),
  });
}

/** Unchecked: what is wrong with a task is for the runtime to say. */
export function startOf(fixture: Fixture): StartInput {
  const { sessionId: _, resume: __, continue: ___, attachments: files, ...own } = fixture.task;
  const attached = files && { attachments: attachmentsOf(files) };
  const agents = startedAgents(fixture);
  return {
    v: 1,
    agent: AGENT,
    task: { ...own, ...attached } as unknown as Task,
    ...(agents !== undefined && { agents }),
  };
}

/** A model that answers in earnest may be the recorded one: its own route counts. */
function routesFor(fixture: Fixture, { routes = [] }: CaseCode): readonly ModelRoute[] {
  const named = new Set(routes.map(({ name }) => name));
  return [...routes, ...routesOf(fixture).filter(({ name }) => !named.has(name))];
}

/** Every model that the case can get to; one without a price is not known, unless the case says what to do. */
function routesOf({ settings, during }: Fixture): readonly ModelRoute[] {
  const { model = DEFAULT_MODEL, fallbackModel, pricing } = settings;
  const named = during.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.kind === 'setModel' ? [action.model] : [])),
  );
  const names = new Set([model, ...named, ...[...pricing.keys()].filter((name) => name !== '*')]);
  if (typeof fallbackModel === 'string') names.add(fallbackModel);
  return [...names].flatMap((name): ModelRoute[] => {
    const prices = pricesFor(settings, name);
    if (prices === undefined) return [];
    const { takes } = settings;
    const route = routeOf(name, prices, windowFor(settings, name));
    return [takes === undefined ? route : { ...route, takes: takes as MediaTaken }];
  });
}

function routeOf(name: string, prices: Prices, contextWindow: number): ModelRoute {
  return {
    name,
    provider: PROVIDER,
    model: name,
    contextWindow,
    maxOutputTokens: OUTPUT_TOKENS_MAX,
    prices,
    pricesVersion: 'case',
    temperatureAllowed: true,
  };
}

function pricesFor(
  { pricing, unknownModelPricing }: Fixture['settings'],
  model: string,
): Prices | undefined {
  const own = pricing.get(model) ?? pricing.get('*');
  if (own !== undefined) return inMicroUsd(own);
  if (unknownModelPricing === 'zero') return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  if (unknownModelPricing === undefined || unknownModelPricing === 'fail') return undefined;
  return inMicroUsd(unknownModelPricing);
}

function inMicroUsd({ input, output, cacheRead, cacheWrite }: CasePrice): Prices {
  return {
    input: Math.round(input * USD),
    output: Math.round(output * USD),
    cacheRead: Math.round(cacheRead * USD),
    cacheWrite: Math.round(cacheWrite * USD),
  };
}

function windowFor({ contextWindow }: Fixture['settings'], model: string): number {
  if (typeof contextWindow === 'number') return contextWindow;
  return contextWindow?.[model] ?? DEFAULT_WINDOW;
}
