/** Everybody who plays in a case: its model, its tools, and what happens from outside. */
import type { Config } from '../../authoring/index.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import type { Settings } from '../../core/state/settings.js';
import type { Provider } from '../../providers/provider.js';
import type { SeenRequest } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { configOf, PROVIDER } from './config.js';
import { recordExecutions, type Executions } from './executions.js';
import { scriptedHooks } from './hooks.js';
import { hostedTool } from './hosted.js';
import { scriptedModel } from './model.js';
import { momentsOf, type Moments } from './moments.js';
import type { Stage } from './stage.js';
import { scriptedSummaries, type Summaries } from './summaries.js';
import { scriptedTool } from './tools.js';

export interface Cast {
  readonly config: Config;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly summaries: Summaries;
  readonly moments: Moments;
  readonly requests: readonly SeenRequest[];
  readonly executions: Executions;
}

/** `settings` are those of the engine itself, over those of the case. */
export function castOf(fixture: Fixture, stage: Stage, settings: Partial<Settings> = {}): Cast {
  const moments = momentsOf(fixture, (action) => stage.perform(action));
  const executions = recordExecutions();
  const { maxRetriesPerToolCall } = { ...DEFAULT_BUDGET, ...fixture.budget };
  const maxRetries = maxRetriesPerToolCall === 'unlimited' ? Infinity : maxRetriesPerToolCall!;
  const tools = fixture.manifest.flatMap((name) => {
    const declared = fixture.tools.get(name);
    if (declared === undefined) return [];
    return declared.kind === 'hosted'
      ? [hostedTool(PROVIDER, declared)]
      : [scriptedTool(declared, { stage, moments, executions, maxRetries })];
  });
  const hooks = scriptedHooks(fixture.hooks, { stage, moments });
  const summaries = scriptedSummaries(fixture.compaction);
  const parts = { stage, moments, summaries, tools: fixture.tools };
  const model = scriptedModel(PROVIDER, fixture.model, parts);
  return {
    config: configOf(fixture, { tools, hooks, settings }),
    providers: new Map([[PROVIDER, model.provider]]),
    summaries,
    moments,
    requests: model.requests,
    executions,
  };
}
