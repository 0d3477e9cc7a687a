/**
 * What a person sees before they decide: the tool, its exact arguments, who may decide and until when.
 * Invariant: nothing of it comes from the model unescaped, and every line stands behind the card's border,
 * so that an argument cannot pretend to be a part of the card.
 */
import type { LimitScope } from '../../core/controls/limits-across-runs.js';
import type { LimitsOutlook } from '../../core/controls/outlook.js';
import type { Repeats } from '../../core/controls/repeats.js';
import type { Json } from '../../core/json/json.js';
import type { AskView } from '../../core/state/ask-view.js';
import { agentPathText } from '../../pure/agent-path.js';
import { argumentsInOrder } from '../../pure/argument-order.js';
import { at, countedIn, headlineOf } from '../../pure/headline.js';
import type { ShownPlace } from '../../store/tree-place.js';
import { dateTimeText, relativeText } from './amounts.js';
import { moneyTexts } from './ask-money.js';
import { answerCommands, type AnswerOptions } from './answer-commands.js';
import { elicitationLines } from './elicitation-lines.js';
import { folded } from './folded.js';
import { inert, inertJson, inertLines } from './inert.js';
import { PLAIN, type Paint } from './paint.js';

export interface CardOptions extends AnswerOptions {
  /** ms since epoch; the expiry is shown relative to it. */
  readonly now: number;
  readonly paint?: Paint;
  /** Leaves out the commands that answer. */
  readonly withoutCommands?: boolean;
  /** Who has agreed so far, where more than one has to. */
  readonly approvedBy?: readonly string[];
}

const BORDER = '│ ';
/** Before the rest of a line that the terminal is too narrow for: no text from outside begins a line of the card but the card's own ids. */
const GOES_ON = '  ↳ ';
const ID_CHARS_MAX = 400;
const PATH_CHARS_MAX = 400;

/** Questions of goals are numbered with a g. */
const GOAL_ASK = /:g\d+$/;

/** What each answer to a call in doubt leads to. */
const OUTCOME_ANSWERS = [
  'happened: the run goes on with the result that you give, and the call is not made again',
  'not_happened: the call is made again; a call that happened after all may then happen twice',
  'stop: the run ends, and the outcome stays unknown',
];

export function approvalCard(ask: AskView & ShownPlace, options: CardOptions): string {
  const { paint = PLAIN, now } = options;
  const label = (name: string, value: string): string => `${paint.dim(name.padEnd(9))} ${value}`;
  const decidable = ask.kind !== 'user_message';
  const isOfGoal = GOAL_ASK.test(ask.askId);
  const body = [
    label('run', inert(options.runId, ID_CHARS_MAX)),
    ...treeLines(ask, label),
    ...(decidable ? [label('question', inert(ask.askId, ID_CHARS_MAX))] : []),
    ...(ask.question === undefined ? [] : ['', ...inertLines(ask.question), '']),
    ...(ask.elicitation === undefined ? [] : elicitationLines(ask.elicitation)),
    ...headlines(ask, paint),
    ...moneyTexts(ask, isOfGoal).map((text) => label('money', text)),
    ...(ask.kind === 'outcome' ? OUTCOME_ANSWERS.map((text) => label('answer', text)) : []),
    ...(ask.args === undefined ? [] : argumentLines(ask, paint)),
    ...(ask.repeats === undefined ? [] : repeatLines(ask, ask.repeats, paint)),
    ...(ask.limits === undefined ? [] : limitLines(ask, ask.limits, paint)),
    ...(decidable ? [label('by', deciders(ask, options))] : []),
    ...(ask.requestedBy === undefined || ask.answeredBy === 'customer'
      ? []
      : [
          label(
            'not by',
            `${inert(ask.requestedBy)}, who ${isOfGoal ? 'started the goal' : 'asked for it'}`,
          ),
        ]),
    ...(ask.steeredBy ?? []).map((by) =>
      label('not by', `${inert(by)}, who said something to the goal since its last cycle`),
    ),
    ...(isOfGoal && ask.requestedBy === undefined && options.withoutCommands !== true
      ? [paint.dim('no starter is named: whoever started the goal may decide as well')]
      : []),
    ...(ask.escalation === undefined ? [] : [label('or by', laterDeciders(ask.escalation, now))]),
    label('expires', `${dateTimeText(ask.expiresAt)} (${relativeText(ask.expiresAt, now)})`),
    ...(decidable ? [label('hash', inert(ask.argsHash, ID_CHARS_MAX))] : []),
  ];
  // A command that is copied stays on one line.
  const commands = options.withoutCommands
    ? []
    : ['', ...answerCommands(ask, options).map((line) => paint.cyan(paint.own(line)))];
  const { columns = Infinity } = paint;
  const own = new Set([options.runId, ask.askId, ask.argsHash]);
  const fitting = (line: string) =>
    folded(line, columns - BORDER.length - 1, { hanging: GOES_ON, keeps: (word) => own.has(word) });
  const [title, ...more] = fitting(paint.bold(paint.yellow(titleOf(ask))));
  return [
    `┌─ ${title}`,
    ...[...more, ...body.flatMap(fitting), ...commands].map((line) =>
      line === '' ? '│' : `${BORDER}${line}`,
    ),
    '└─',
  ].join('\n');
}

function treeLines(
  { root, agentPath }: ShownPlace,
  label: (name: string, value: string) => string,
): readonly string[] {
  if (root === undefined || agentPath === undefined) return [];
  const path = inert(agentPathText(agentPath), PATH_CHARS_MAX);
  return [label('root', inert(root, ID_CHARS_MAX)), label('agents', path)];
}

function titleOf(ask: AskView): string {
  const tool = ask.tool === undefined ? '' : inert(ask.tool);
  const version = ask.toolVersion === undefined ? '' : `@${inert(ask.toolVersion)}`;
  switch (ask.kind) {
    case 'approval':
      return tool === '' ? 'Approval wanted' : `Approval wanted: ${tool}${version}`;
    case 'outcome':
      return `Did it happen? ${tool}${version}`;
    case 'budget':
      return 'More budget wanted';
    case 'input':
      return 'A question to you';
    case 'user_message':
      return 'The conversation waits for its user';
  }
}

/** How much, and to whom, as the tool declares it; nothing where it declares nothing. */
function headlines(ask: AskView, paint: Paint): readonly string[] {
  if (ask.kind === 'budget') return [];
  const { amount, recipient } = headlineOf(ask);
  return [amount, recipient].flatMap((headed) => {
    if (headed === undefined) return [];
    const { name, value, raw } = headed;
    const exact = raw === value ? '' : ` (exactly ${inert(raw)})`;
    return [`${paint.dim(inert(name).padEnd(9))} ${paint.bold(inert(value))}${exact}`];
  });
}

function argumentLines(ask: AskView, paint: Paint): readonly string[] {
  return [
    paint.dim('exact arguments'),
    ...inertJson(inOrder(ask.args)).map((line) => `  ${paint.bold(line)}`),
  ];
}

/** Amounts first, the largest first; what is inside of an object stays there. */
function inOrder(args: Json | undefined): Json | undefined {
  const ordered = argumentsInOrder(args ?? null).filter(({ path }) => at(args, path) !== undefined);
  const own = ordered.filter(({ path }) => Object.hasOwn(args as object, path));
  return own.length === 0 ? args : Object.fromEntries(own.map(({ path, value }) => [path, value]));
}

const STATES = { done: 'done', under_way: 'under way', in_doubt: 'in doubt' } as const;

/** What was done before for the same business object, the newest first. */
function repeatLines(
  ask: AskView,
  { identity, earlier, more }: Repeats,
  paint: Paint,
): readonly string[] {
  const { all } = countedIn(ask);
  const lines = earlier.map(({ at, state, amount, runId, approvedBy }) => {
    const much = amount === undefined ? '' : `, amount ${all(amount)}`;
    // An empty list says that nobody was asked, or that nobody knows.
    const people = approvedBy.map((by) => inert(by)).join(', ');
    const word = people === '' ? '' : `, on the word of ${people}`;
    return `  ${dateTimeText(at)}: ${STATES[state]}${much}, by ${inert(runId)}${word}`;
  });
  const about = identity.map((part) => inert(part)).join(', ');
  return [
    paint.dim(`done before for ${about}`),
    ...lines.map((line) => paint.yellow(line)),
    ...(more === true ? ['  and more'] : []),
  ];
}

const SCOPES: { readonly [scope in LimitScope]: string } = {
  perCustomerAndDay: 'for this customer today',
  perDay: 'today',
  inAll: 'in all',
};

/** As it was when the call was proposed. */
function limitLines(
  ask: AskView,
  { amount, limits, exceeded }: LimitsOutlook,
  paint: Paint,
): readonly string[] {
  const { own, all } = countedIn(ask);
  const lines = limits.flatMap(({ scope, used, ...limit }) => [
    ...(limit.amount === undefined
      ? []
      : [
          `  ${all(used.amount)} of ${all(limit.amount)} used ${SCOPES[scope]}; this takes ${own(amount)}`,
        ]),
    ...(limit.count === undefined
      ? []
      : [`  ${used.count} of ${limit.count} calls used ${SCOPES[scope]}`]),
  ]);
  const over = '  beyond its limits: it would be refused even if it is approved';
  return [paint.dim('limits'), ...lines, ...(exceeded === true ? [paint.yellow(over)] : [])];
}

function laterDeciders({ at, roles }: NonNullable<AskView['escalation']>, now: number): string {
  const when = at <= now ? 'as well now' : `from ${dateTimeText(at)} (${relativeText(at, now)})`;
  return `${roles.map((role) => inert(role)).join(' or ')}, ${when}`;
}

function deciders(
  { roles, quorum, answeredBy, requestedBy }: AskView,
  { approvedBy }: Pick<CardOptions, 'approvedBy'>,
): string {
  if (answeredBy === 'customer') return `${inert(requestedBy ?? 'the customer')} alone`;
  const who = roles.length === 0 ? 'anyone' : roles.map((role) => inert(role)).join(' or ');
  if (quorum < 2) return who;
  const so = (approvedBy ?? []).map((by) => inert(by)).join(', ');
  const agreed =
    approvedBy === undefined
      ? ''
      : ` (${approvedBy.length} of ${quorum} so far${so === '' ? '' : `: ${so}`})`;
  return `${quorum} different people: ${who}${agreed}`;
}
