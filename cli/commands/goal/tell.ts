/** What people say to a goal: `holdfast goal steer`, `pause`, `resume`, `wake`, `review`, `budget`, `pace`, `handoff`, `stop`, `cancel`. */
import type { Command } from 'commander';
import type { Told } from '../../../client/index.js';
import type { Pace } from '../../../core/state/goal/definition.js';
import type { MessageBody } from '../../../core/state/goal/message.js';
import { actorOf, deskOf, withActor, type ActorOptions } from '../../desk/actor.js';
import type { Answer } from '../../desk/desk-api.js';
import { REQUEST_ID } from '../../desk/request-id.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../../command.js';
import { inert, shellWord } from '../../render/index.js';
import type { Session } from '../../session.js';
import { parseDuration } from '../../terminal/duration.js';
import type { Output } from '../../terminal/output.js';
import { usage } from '../../usage.js';
import { laterBudget } from './goal-input.js';

export interface TellOptions extends ActorOptions {
  readonly id?: string;
}

export interface Saying {
  readonly session: Session;
  readonly output: Output;
  readonly goalId: string;
  readonly options: TellOptions;
  readonly said: MessageBody;
}

/** Over the desk for whoever has a token, which signs it; in local development straight to the goal. */
export async function sayTo(cli: Cli, saying: Saying): Promise<void> {
  const { output, goalId, said } = saying;
  const told = await tell(cli, saying);
  output.data({ goalId, id: told.id, delivered: told.delivered });
  const id = shellWord(goalId);
  const sentence =
    told.delivered === 'update'
      ? `${inert(told.message ?? DONE[said.type])} Follow the goal: holdfast goal watch ${id}`
      : `Sent; no worker answers now, so that nobody knows yet whether it counts. See: holdfast goal show ${id}`;
  output.line(output.paint.own(sentence));
}

async function tell(cli: Cli, { session, goalId, options, said }: Saying): Promise<Told> {
  const { id } = options;
  const api = deskOf(cli, options);
  if (api !== undefined) {
    const { type, ...body } = said;
    const path = `/v1/goals/${encodeURIComponent(goalId)}/${pathOf(type)}`;
    return toldIn(await api.post(path, body, id), id);
  }
  const named = isNamed(options) ? await actorOf(cli, session, options) : undefined;
  const who = named?.kind === 'named' ? named.named : { by: localName(cli) };
  const client = await session.clientWithoutStore();
  return client.goal(goalId).say(said, { ...who, ...(id !== undefined && { id }) });
}

/** The desk names the message after the person; whoever gave an id repeats it by that. */
function toldIn({ state, messageId, message }: Answer, given: string | undefined): Told {
  const id = given ?? String(messageId);
  if (state === 'sent') return { delivered: 'signal', id };
  return { delivered: 'update', id, ...(typeof message === 'string' && { message }) };
}

/** Last part of the path at the desk. */
function pathOf(type: MessageBody['type']): string {
  const other = { setBudget: 'budget', setPlan: 'plan', setPace: 'pace' } as const;
  if (type !== 'handoffGoal') return type in other ? other[type as keyof typeof other] : type;
  throw usage(
    'The desk takes no handoff to another goal.',
    'Say it without a token, beside Temporal.',
  );
}

function isNamed({ as, by, role }: ActorOptions): boolean {
  return as !== undefined || by !== undefined || role !== undefined;
}

/** Proves nothing: a goal that requires proof takes nothing from here. */
function localName({ environment }: Cli): string {
  const { USER = '', LOGNAME = '' } = environment.variables;
  const name = (USER || LOGNAME).replace(/\p{C}/gu, '').trim().slice(0, 100);
  return name === '' ? 'local' : name;
}

const DONE: { readonly [type in MessageBody['type']]: string } = {
  steer: 'Told: the next cycle reads it.',
  pause: 'Asked to pause: no other cycle begins.',
  resume: 'Goes on.',
  wake: 'Woken.',
  review: 'Asked for a review.',
  stop: 'Asked to stop.',
  cancel: 'Asked to cancel.',
  setBudget: 'The budget is set.',
  setPlan: 'The plan is set.',
  setPace: 'The pace is set.',
  handoffGoal: 'Asked to hand off.',
};

interface Word<Options extends TellOptions> {
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly options?: (command: Command) => Command;
  readonly said: (words: readonly string[], options: Options) => MessageBody;
}

function addWord<Options extends TellOptions>(goal: Command, cli: Cli, word: Word<Options>): void {
  const command = goal
    .command(word.usage)
    .description(word.description)
    .option('--id <id>', `the same id again is ignored; over a desk ${REQUEST_ID}`);
  word.options?.(command);
  withJson(withPlace(withActor(command, 'who says it')), '{goalId, id, delivered}')
    .addHelpText('after', examples(...word.examples))
    .action((goalId: string, ...rest: readonly unknown[]) => {
      const options = rest.at(-2) as Options;
      const words = rest.slice(0, -2).flat() as readonly string[];
      return runCommand(cli, options, async (session, output) => {
        // What cannot be meant is found before anybody is asked.
        const said = word.said(words, options);
        await sayTo(cli, { session, output, goalId, options, said });
      });
    });
}

const PLAIN_WORDS = [
  [
    'pause',
    'Hold a goal: the open cycle and its pass end, and no other begins until `holdfast goal resume`.',
  ],
  ['resume', 'Let a goal that was paused go on.'],
  ['wake', "End a goal's sleep now; of one that does not sleep, the next sleep ends at once."],
  [
    'stop',
    'End a goal as interrupted: its open cycle is waited for, unless it waits for a person or a timer.',
  ],
  ['cancel', 'End a goal as aborted: its open cycle is cancelled.'],
] as const;

export function addGoalWords(goal: Command, cli: Cli): void {
  addSteer(goal, cli);
  for (const [type, description] of PLAIN_WORDS) {
    addWord(goal, cli, {
      usage: `${type} <goal>`,
      description,
      examples: [`holdfast goal ${type} march`],
      said: () => ({ type }),
    });
  }
  addReview(goal, cli);
  addWord(goal, cli, {
    usage: 'budget <goal> <name=value...>',
    description:
      "Set a goal's limits, each in all and not beside what is spent: what is not named stays. A limit below what is spent, or above the highest that the goal's definition allows, is refused.",
    examples: ['holdfast goal budget march maxCostUsd=8 maxCycles=200 --as mia --role finance'],
    said: (words) => ({ type: 'setBudget', budget: laterBudget(words) }),
  });
  addPace(goal, cli);
  addWord(goal, cli, {
    usage: 'handoff <goal> <other>',
    description:
      'End a goal as handed off to another goal that exists; no money moves. Another agent for the next cycles is what a cycle or reviewer proposes.',
    examples: ['holdfast goal handoff march april'],
    said: ([other = '']) => ({ type: 'handoffGoal', goalId: other }),
  });
}

function addSteer(goal: Command, cli: Cli): void {
  addWord<TellOptions & { readonly wake?: boolean }>(goal, cli, {
    usage: 'steer <goal> <text...>',
    description:
      'Say something to a goal: the next cycle reads it, with your name and whether it is proven.',
    examples: ["holdfast goal steer march 'Start with the oldest.' --as mia --wake"],
    options: (command) => command.option('--wake', "end the goal's sleep as well"),
    said: (words, { wake }) => ({ type: 'steer', text: words.join(' '), ...(wake && { wake }) }),
  });
}

interface ReviewOptions extends TellOptions {
  readonly objective?: string;
  readonly because?: string;
}

function addReview(goal: Command, cli: Cli): void {
  addWord<ReviewOptions>(goal, cli, {
    usage: 'review <goal>',
    description:
      'Ask for a review in the next pass. With --objective your word on the objective stands until you say otherwise.',
    examples: [
      'holdfast goal review march',
      "holdfast goal review march --objective invalid --because 'The customer has paid.' --as mia",
    ],
    options: (command) =>
      command
        .option('--objective <word>', 'valid or invalid')
        .option('--because <text>', 'with --objective: why'),
    said: (_, { objective, because }) => {
      if (objective !== undefined && objective !== 'valid' && objective !== 'invalid') {
        throw usage(`--objective is valid or invalid, not "${objective.slice(0, 40)}".`);
      }
      if (because !== undefined && objective === undefined) {
        throw usage('--because goes with --objective.');
      }
      return {
        type: 'review',
        ...(objective !== undefined && { objectiveValid: objective === 'valid' }),
        ...(because !== undefined && { because }),
      };
    },
  });
}

function addPace(goal: Command, cli: Cli): void {
  addWord<TellOptions & { readonly timezone?: string }>(goal, cli, {
    usage: 'pace <goal> <pace>',
    description:
      "Set when a goal's cycles begin: continuous, when_woken, every so often (90s, 6h, 1d), or by a cron line of five fields with --timezone.",
    examples: [
      'holdfast goal pace march 6h',
      "holdfast goal pace march '0 9 * * 1-5' --timezone Europe/Zurich",
      'holdfast goal pace march when_woken',
    ],
    options: (command) =>
      command.option('--timezone <zone>', 'with a cron line: an IANA time zone'),
    said: ([text = ''], { timezone }) => ({ type: 'setPace', pace: paceIn(text, timezone) }),
  });
}

/** Errors: Usage. Whether a cron line means something is checked where it is sent. */
export function paceIn(text: string, timezone: string | undefined): Pace {
  const words = text.trim();
  const isCron = /\s/.test(words);
  if (timezone !== undefined && !isCron) throw usage('--timezone goes with a cron line.');
  if (words === 'continuous' || words === 'when_woken') return words;
  if (isCron) {
    if (timezone !== undefined) return { cron: words, timezone };
    throw usage('A cron line needs a time zone.', 'Add --timezone, such as Europe/Zurich or UTC.');
  }
  const everyMs = parseDuration(words);
  if (everyMs !== undefined && everyMs > 0) return { everyMs };
  throw usage(
    `"${words.slice(0, 40)}" is no pace: ${paceDefect(words)}.`,
    "Use continuous, when_woken, a time such as 6h, or a cron line such as '0 9 * * 1-5' with --timezone.",
  );
}

function paceDefect(words: string): string {
  const [, count, unit = ''] = /^(-?[\d.]+)\s*(\D*)$/.exec(words) ?? [];
  if (count === undefined) return 'it is neither a word that is known nor a time';
  if (Number(count) <= 0) return 'the time between two cycles is above 0';
  return `${JSON.stringify(unit)} is no unit of time; units are s, m, h and d`;
}
