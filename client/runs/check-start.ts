/**
 * What a caller wants to start, checked before anything is sent. Stricter than the worker's own
 * check where a misspelt field is concerned, because nobody would ever see it ignored; the exact bounds of
 * budgets and settings are the worker's to check, and come back as InvalidTask too.
 */
import type { KnownFields } from '../../authoring/known-fields.js';
import { inMicroUsd, type BudgetLimits } from '../../authoring/budget-in-usd.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import { taskDefect } from '../../pure/task-schema.js';
import { HoldfastError } from '../../core/state/errors.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../../core/json/json-depth.js';
import { ownValue } from '../../core/json/json.js';
import { parseModelName } from '../../core/messages/parse-message.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import { STARTED_AGENTS_CHARS_MAX, type StartedAgents } from '../../core/state/started-agent.js';
import type { SessionStart } from '../../core/state/session.js';
import type {
  BudgetOverrides,
  SettingsOverrides,
  StartInput,
  Task,
} from '../../core/state/task.js';
import { fieldsOf, isRecord } from '../../pure/options.js';
import { isTenant } from '../closed-options.js';

/** What is asked to be started; a bare text is the goal. */
export interface StartRequest {
  readonly agent: string;
  readonly task: Task | string;
  /** A model for this run in place of the agent's own, by its route: `anthropic/…`. */
  readonly model?: string;
  readonly tenant?: string;
  readonly budget?: BudgetLimits;
  readonly settings?: SettingsOverrides;
  /** Sub-agents beside those that the agent declares: roles of it, with less than it has. */
  readonly agents?: StartedAgents;
  /** Shorthand for `settings.persistSession`: keep the conversation when the run ends. */
  readonly persistSession?: boolean;
}

/** Of a schedule too: what it starts has no id and no wait of its own. */
export const REQUEST: KnownFields<StartRequest> = {
  agent: true,
  task: true,
  model: true,
  tenant: true,
  budget: true,
  settings: true,
  agents: true,
  persistSession: true,
};

type Request = StartRequest & { readonly session?: SessionStart };

/** The argument of the workflow; throws InvalidTask that names the field. */
export function checkStart(request: Request): StartInput {
  const { agent, tenant } = request;
  if (typeof agent !== 'string' || agent.trim() === '' || agent.length > 200) {
    throw new HoldfastError('InvalidTask', 'The start names no agent.', {
      hint: 'Give the name of an agent that your worker serves.',
    });
  }
  if (tenant !== undefined && !isTenant(tenant)) {
    throw new HoldfastError('InvalidTask', 'The tenant cannot be used.', {
      hint: 'Use 1 to 64 of the characters A-Z a-z 0-9 . _ -',
    });
  }
  if (depthOf(request) > SHAPE_DEPTH_MAX) {
    throw new HoldfastError('InvalidTask', 'The task nests too deeply.', {
      hint: `Keep it below ${SHAPE_DEPTH_MAX} levels.`,
    });
  }
  return {
    v: 1,
    agent,
    task: checkedTask(request.task),
    ...(request.model !== undefined && { model: checkedModel(request.model) }),
    ...(tenant !== undefined && { tenant }),
    ...(request.budget !== undefined && { budget: checkedBudget(request.budget) }),
    ...settingsOf(request),
    ...(request.agents !== undefined && { agents: checkedAgents(request.agents) }),
    ...(request.session !== undefined && { session: request.session }),
  };
}

function settingsOf({ settings, persistSession }: Request): Pick<StartInput, 'settings'> {
  if (settings === undefined && persistSession === undefined) return {};
  const own = persistSession === undefined ? {} : { persistSession };
  return {
    settings: {
      ...checkedSettings(settings === undefined ? {} : settings),
      ...checkedSettings(own),
    },
  };
}

/** Their fields are the worker's to check, which knows the agent. */
function checkedAgents(agents: unknown): StartedAgents {
  if (!isRecord(agents)) {
    throw badField('agents', 'must be an object: {auditor: {description, prompt}}');
  }
  const plain = Object.entries(agents).map(([name, one]: [string, unknown]) => {
    if (!isRecord(one)) {
      throw badField(`agents.${name.slice(0, 60)}`, 'must be an object: {description, prompt}');
    }
    return [name, withMicroUsd(withoutAbsent(one), `agents.${name.slice(0, 60)}`)] as const;
  });
  const chars = JSON.stringify(plain).length;
  if (chars > STARTED_AGENTS_CHARS_MAX) {
    throw badField('agents', `has more than ${STARTED_AGENTS_CHARS_MAX} characters as JSON`);
  }
  return Object.fromEntries(plain) as StartedAgents;
}

/** Whatever is started says money in one unit. */
function withMicroUsd(agent: object, path: string): object {
  const { budget } = agent as { readonly budget?: unknown };
  if (budget === undefined) return agent;
  const wrong = (field: string, why: string) => unusable(`${path}.budget.${field}`, why);
  return { ...agent, budget: inMicroUsd(budget, wrong) };
}

function checkedModel(model: unknown): string {
  const parsed = parseModelName(model);
  if (parsed.ok) return parsed.value;
  throw badField('model', 'must be the name of a route, as anthropic/…');
}

function checkedTask(task: unknown): Task {
  const given = typeof task === 'string' ? { goal: task } : withCaller(task);
  const defect = taskDefect(given, 'refused');
  if (defect === undefined) return withoutAbsent(given as Task) as Task;
  const { path, why } = defect;
  throw new HoldfastError('InvalidTask', `${path} cannot be used: ${why}.`, {
    hint: `Correct ${path} and start again.`,
    details: { path },
  });
}

/** In the one form of its letters that the worker takes: whoever starts does not see the difference. */
function withCaller(task: unknown): unknown {
  const caller = (task as Partial<Task> | null)?.caller;
  if (typeof caller !== 'string') return task;
  return { ...(task as Task), caller: caller.normalize('NFC') };
}

/** Every limit is a whole number from 0, or 'unlimited'; Infinity does not survive JSON and means the same. */
function checkedBudget(budget: BudgetLimits): BudgetOverrides {
  const given = inMicroUsd(budget, (field, why) => unusable(`budget.${field}`, why));
  const entries = Object.entries(present('budget', given, DEFAULT_BUDGET)).map(([key, value]) => {
    if (value === 'unlimited' || value === Number.POSITIVE_INFINITY) return [key, 'unlimited'];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return [key, value];
    if (key === 'compactionThreshold' && typeof value === 'number' && value >= 0 && value <= 1)
      return [key, value];
    throw badField(`budget.${key}`, "must be a whole number from 0, or 'unlimited'");
  });
  return Object.fromEntries(entries) as BudgetOverrides;
}

function checkedSettings(settings: SettingsOverrides): SettingsOverrides {
  const given = present('settings', settings, DEFAULT_SETTINGS);
  const defaults: { readonly [key: string]: unknown } = { ...DEFAULT_SETTINGS };
  for (const [key, value] of Object.entries(given)) {
    const kind = typeof defaults[key];
    // A setting without a default is the worker's to check.
    const fits =
      defaults[key] === null || (typeof value === kind && value !== null && !Number.isNaN(value));
    if (!fits) throw badField(`settings.${key}`, `must be a ${kind}`);
  }
  return given;
}

/** The fields that are set; an unknown name is refused. */
function present(what: string, given: unknown, known: object): { readonly [key: string]: unknown } {
  if (!isRecord(given)) {
    throw badField(what, 'must be an object');
  }
  const set = withoutAbsent(given) as { readonly [key: string]: unknown };
  const names: { readonly [key: string]: unknown } = { ...known };
  const unknown = Object.keys(set).find((key) => ownValue(names, key) === undefined);
  if (unknown === undefined) return set;
  const reason = `is not known; known are ${Object.keys(names).join(', ')}`;
  throw badField(`${what}.${unknown.slice(0, 60)}`, reason);
}

function badField(path: string, why: string): HoldfastError {
  return unusable(path, `it ${why}`);
}

function unusable(path: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `${path} cannot be used: ${why}.`, {
    hint: `Correct ${path}; leave it out to get its default.`,
    details: { path },
  });
}

function withoutAbsent(value: object): object {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter(([, field]) => field !== undefined),
  );
}
