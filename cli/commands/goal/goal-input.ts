/** What `holdfast goal` is given: a goal by its name in the configuration, or a definition in a file. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { normalGoal, type NormalGoal } from '../../../authoring/index.js';
import { microUsdOf, usdDefect, withLimits } from '../../../authoring/budget-in-usd.js';
import { GOAL_FILE_BYTES_MAX, parseGoalText } from '../../../authoring/goal/goal-file.js';
import { HoldfastError } from '../../../core/state/errors.js';
import type { GoalBudget } from '../../../core/state/goal/definition.js';
import { GOAL_BUDGET_FIELDS, type GoalBudgetField } from '../../../core/state/goal/terms.js';
import { didYouMean } from '../../../pure/nearest-names.js';
import { parseDuration } from '../../terminal/duration.js';
import type { Session } from '../../session.js';
import { usage } from '../../usage.js';

const FILE = /\.(json|ya?ml)$/i;
/** Beside those that a person can change while the goal is under way. */
const START_ONLY = ['hardMaxCostMicroUsd', 'deadlineMs', 'onBudget'] as const;

export interface GoalSource {
  /** A name, the path of a .json, .yaml or .yml file, or `-`. */
  readonly named: string;
  readonly folder: string;
  readonly input?: NodeJS.ReadableStream | undefined;
  readonly budget?: Partial<GoalBudget>;
}

/** With every default. Errors: InvalidTask, InvalidConfig, Usage. */
export async function readGoal(session: Session, source: GoalSource): Promise<NormalGoal> {
  const { named, folder, input, budget = {} } = source;
  if (named === '-' || FILE.test(named)) {
    const text =
      named === '-'
        ? await textFrom(input ?? process.stdin)
        : await textOf(resolve(folder, named), named);
    const name = named === '-' ? 'standard input' : named;
    return normalGoal(withBudget(parseGoalText(text, name), budget), name);
  }
  const { loadConfig, findConfig } = await import('../../../worker/load-config.js');
  const file = session.place.configFile ?? findConfig(folder);
  if (file === undefined) {
    throw usage(
      `There is no configuration in ${folder} that could name the goal "${named.slice(0, 60)}".`,
      'Give a file: holdfast goal start goal.yaml.',
    );
  }
  const { goals } = await loadConfig({ folder, file });
  const goal = goals.get(named);
  if (goal !== undefined) {
    return normalGoal(withBudget(goal.definition, budget), `Goal ${named}`);
  }
  const known = [...goals.keys()];
  throw new HoldfastError(
    'InvalidTask',
    `The configuration has no goal named ${JSON.stringify(named.slice(0, 80))}.`,
    {
      hint:
        known.length === 0
          ? 'Name goals in it (goals: [defineGoal({…})]), or give a file: goal.yaml.'
          : `${didYouMean(named, known)}The configuration has ${known.slice(0, 20).join(', ')}. A definition in a file is named by its path.`,
    },
  );
}

function withBudget(definition: unknown, budget: Partial<GoalBudget>): unknown {
  if (Object.keys(budget).length === 0) return definition;
  const given = definition as { readonly budget?: object };
  return { ...given, budget: withLimits(given.budget ?? {}, budget) };
}

/** JSON or YAML: the value in a file of the user. */
export async function readSmallFile(folder: string, file: string): Promise<string> {
  return textOf(resolve(folder, file), file);
}

async function textOf(path: string, shown: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) throw badFile(shown, 'it does not exist');
  if (!facts.isFile()) throw badFile(shown, 'it is no file');
  if (facts.size > GOAL_FILE_BYTES_MAX) throw tooLarge(shown);
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw badFile(shown, cause instanceof Error ? cause.message : 'it cannot be read');
  });
}

async function textFrom(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > GOAL_FILE_BYTES_MAX) throw tooLarge('standard input');
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(name: string): HoldfastError {
  return badFile(name, `it is larger than ${GOAL_FILE_BYTES_MAX} bytes`);
}

function badFile(name: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The file ${name} cannot be used: ${why}.`, {
    hint: 'Name a JSON or YAML file.',
  });
}

/** `maxCycles=20`, `maxCostUsd=5`, `deadlineMs=30d`: everything that a goal's budget may say at its start. */
export function startBudget(given: readonly string[] = []): Partial<GoalBudget> {
  return parsedBudget(given, [...GOAL_BUDGET_FIELDS, ...START_ONLY]) as Partial<GoalBudget>;
}

/** What of it a person may change later. */
export function laterBudget(given: readonly string[]): {
  readonly [f in GoalBudgetField]?: number;
} {
  return parsedBudget(given, GOAL_BUDGET_FIELDS) as { readonly [f in GoalBudgetField]?: number };
}

function parsedBudget(given: readonly string[], fields: readonly string[]): object {
  return Object.fromEntries(given.map((text) => budgetEntry(text, fields)));
}

/** Amounts may be given in USD, and times with their unit. */
function budgetEntry(text: string, fields: readonly string[]): readonly [string, number | string] {
  const at = text.indexOf('=');
  if (at < 1) throw usage(`A budget is name=value, not "${text.slice(0, 80)}".`);
  const key = text.slice(0, at).trim();
  const value = text.slice(at + 1).trim();
  const field = key.replace(/Usd$/, 'MicroUsd').replace('MicroMicro', 'Micro');
  if (!fields.includes(field)) {
    const known = ['maxCostUsd', ...fields];
    const hint = `${didYouMean(key, known)}Known: ${known.join(', ')}.`;
    throw usage(`There is no budget "${key.slice(0, 60)}" here.`, hint);
  }
  if (field === 'onBudget') return [field, value];
  const amount =
    field === key
      ? field.endsWith('Ms')
        ? parseDuration(value)
        : numberOf(value)
      : inMicro(key, numberOf(value.replace(/^\$/, '')));
  if (amount !== undefined && Number.isSafeInteger(amount) && amount >= 0) return [field, amount];
  throw usage(`The budget ${key} must be a number, not "${value.slice(0, 40)}".`);
}

function inMicro(key: string, dollars: number | undefined): number | undefined {
  if (dollars === undefined) return undefined;
  const defect = usdDefect(dollars);
  if (defect !== undefined) throw usage(`The budget ${key} cannot be used: ${defect}.`);
  return microUsdOf(dollars);
}

function numberOf(text: string): number | undefined {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) ? value : undefined;
}
