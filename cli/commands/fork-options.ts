/** What `holdfast fork` is told to change, read from its options and their files. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { parseBudget } from '../../authoring/check-limits.js';
import type { PolicyDeclaration } from '../../authoring/policy.js';
import type { Config } from '../../authoring/index.js';
import type { HoldfastError } from '../../core/state/errors.js';
import type { BudgetOverrides } from '../../core/state/task.js';
import type { ForkChanges } from '../../evaluation/fork/frozen.js';
import type { Cli, CommonOptions } from '../command.js';
import { notRead, usage } from '../usage.js';

export interface ForkOptions extends CommonOptions {
  readonly at: number;
  readonly run?: string;
  readonly plan?: boolean;
  readonly dry?: boolean;
  readonly live?: boolean;
  readonly model?: string;
  readonly instructions?: string;
  readonly tool?: string;
  readonly policy?: string;
  readonly message?: string;
  readonly budget?: readonly string[];
  readonly result?: readonly string[];
  readonly config?: string;
  readonly rules?: string;
}

const FILE_CHARS_MAX = 1_000_000;
const WORDS_MAX = 100;

export function withChanges(command: Command): Command {
  return command
    .option('--model <name>', 'the model that goes on')
    .option('--instructions <file>', 'instructions in place of those of the agent')
    .option('--tool <name@version>', 'with --config: this tool in place of the one of its name')
    .option('--policy <file>', 'JSON with the rules of a policy in place of the recorded one')
    .option('--message <text>', 'said by the user before the next request')
    .option('--budget <key=value>', 'a limit in place of the recorded one; may be repeated', listed)
    .option(
      '--result <call=json>',
      'what a call of the turn at hand returned; may be repeated',
      listed,
    )
    .option('--config <file>', 'prompt, tools, policy, limits and hooks of this configuration')
    .option('--rules <which>', 'newest: by the newest rules, not by those of the recorded run');
}

function listed(value: string, before: readonly string[] = []): readonly string[] {
  if (before.length >= WORDS_MAX)
    throw usage('There are too many of one option.', `Name at most ${WORDS_MAX}.`);
  return [...before, value];
}

/** Names of the options that change something, as they were given. */
export function changesNamed(options: Omit<ForkOptions, 'at'>): readonly string[] {
  const names = [
    'model',
    'instructions',
    'tool',
    'policy',
    'message',
    'budget',
    'result',
    'config',
    'rules',
  ] as const;
  return names.filter((name) => options[name] !== undefined);
}

/** `config`: the configuration that --config names, or the one of the folder, which only says what models are. */
export async function changesOf(
  { environment: { folder } }: Cli,
  options: ForkOptions,
  config: Config | undefined,
): Promise<ForkChanges> {
  const { model, instructions, tool, policy, message, budget, result } = options;
  const { resolveRoute } = await import('../../providers/routes.js');
  if (tool !== undefined && options.config === undefined) {
    throw usage('--tool names a tool of a configuration.', 'Name the configuration with --config.');
  }
  const read = (file: string, option: string) => textOf(resolve(folder, file), option);
  return {
    route: model === undefined ? undefined : resolveRoute(model, config),
    instructions:
      instructions === undefined ? undefined : await read(instructions, '--instructions'),
    tool,
    policy:
      policy === undefined
        ? undefined
        : (jsonOf(await read(policy, '--policy'), '--policy') as PolicyDeclaration),
    message,
    budget: budget && budgetOf(budget),
    results: result && resultsOf(result),
    config: options.config === undefined ? undefined : config,
  };
}

async function textOf(file: string, option: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw notRead(`file of ${option}`, cause);
  });
  if (text.length <= FILE_CHARS_MAX) return text;
  throw usage(
    `The file of ${option} is too long.`,
    `At most ${FILE_CHARS_MAX} characters are read.`,
  );
}

function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usage(`${what} has no valid JSON.`, 'Write JSON, for example {"rules": []}.');
  }
}

function budgetOf(given: readonly string[]): BudgetOverrides {
  const fields = given.map((one) => {
    const [key, value] = pairOf(one, '--budget', 'maxTurns=5');
    const isWord = !/^-?\d+(\.\d+)?$/.test(value);
    return [key, isWord ? value : Number(value)] as const;
  });
  return parseBudget(Object.fromEntries(fields), { code: 'Usage', subject: '--budget' });
}

/** By call id, as the model sees them. */
function resultsOf(given: readonly string[]): { readonly [callId: string]: string } {
  const results = given.map((one) => {
    const [call, json] = pairOf(one, '--result', 'call_1={"ok":true}');
    const value = jsonOf(json, '--result');
    return [call, typeof value === 'string' ? value : JSON.stringify(value)] as const;
  });
  return Object.fromEntries(results);
}

function pairOf(text: string, option: string, example: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(`${option} needs a name and a value.`, `Write ${option} '${example}'.`);
}

export function meansNothing(option: string): HoldfastError {
  return usage(
    `--plan plays no fork, so --${option} means nothing.`,
    'Leave out --plan, or leave out the change.',
  );
}
