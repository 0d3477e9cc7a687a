/** What answers for the models of a simulated goal: scripts of the test, providers of the test, or the configuration's own script. */
import type { Config } from '../authoring/index.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Provider } from '../providers/provider.js';
import { SCRIPTED_PROVIDER } from '../providers/routes.js';
import { createScriptedProvider } from '../providers/scripted/provider.js';
import { roleOf } from './agent/agent-role.js';
import { unfit } from './agent/check-test.js';
import { scriptedProvider, type ModelScript, type ScriptPlace } from './agent/model-script.js';
import { providerNames } from './agent/provider-names.js';
import { checkTurns } from './agent/turns.js';

export interface GoalModels {
  /** What the model of the goal's agent says, by request: a list begins anew with each cycle. */
  readonly model?: ModelScript;
  /** What other models say, by name: sub-agents, agents that the goal is handed to, judges, the reviewer. */
  readonly agents?: { readonly [agent: string]: ModelScript };
  /** In place of scripts, by `ModelRoute.provider`. Without both, `scripted` of the configuration answers for every model. */
  readonly providers?: ReadonlyMap<string, Provider>;
}

export interface GoalStage extends Omit<ScriptPlace, 'scriptOf'> {
  /** Whose requests `model` answers. */
  readonly agent: string;
}

/** Errors: InvalidFixture: nothing answers. */
export function providersOfGoal(
  config: Config,
  { model, agents, providers }: GoalModels,
  stage: GoalStage,
): ReadonlyMap<string, Provider> {
  const areScripted = model !== undefined || agents !== undefined;
  if (providers !== undefined && areScripted) {
    throw unfit('simulateGoal has scripts beside `providers`.', 'Give one of the two.');
  }
  if (providers !== undefined) return providers;
  checkTurns({ ...agents, ...(model !== undefined && { [stage.agent]: model }) });
  if (areScripted) {
    const scriptOf = (agent: string): ModelScript | undefined =>
      agents?.[agent] ?? agents?.[roleOf(agent)] ?? (agent === stage.agent ? model : undefined);
    const provider = scriptedProvider({ ...stage, scriptOf });
    return new Map([...providerNames(config), SCRIPTED_PROVIDER].map((name) => [name, provider]));
  }
  if (config.scripted !== undefined) {
    // For vendors as well: a key in the environment of a test lets nothing go out.
    const provider = createScriptedProvider(config.scripted);
    return new Map([...providerNames(config), SCRIPTED_PROVIDER].map((name) => [name, provider]));
  }
  throw new HoldfastError('InvalidFixture', 'Nothing answers for the models of the goal.', {
    hint: 'Give simulateGoal a script as `model`, or the configuration one as `scripted`.',
  });
}
