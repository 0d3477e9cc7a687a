/** `holdfast approve`, `reject`, `modify`, `replace` and `answer`: what a person decides. */
import type { Command } from 'commander';
import type { Delivery } from '../../client/index.js';
import type { GrantRequest } from '../../core/state/grant.js';
import type { Json } from '../../core/json/json.js';
import { REASON_CHARS_MAX } from '../../core/messages/reason-limit.js';
import { parseJsonText } from '../../pure/json-text.js';
import { actorOf, withActor, type ActorOptions } from '../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { decidingAtDesk, decidingDirectly, type Question, type Wanted } from '../desk/deciding.js';
import {
  allowedText,
  AMOUNT_HELP,
  AMOUNT_OPTION,
  amountFor,
  amountIn,
  askedAmount,
  type GivenAmount,
} from '../desk/more-budget.js';
import { REQUEST_ID, requestId } from '../desk/request-id.js';
import { parseDuration } from '../terminal/duration.js';
import { onInterrupt } from '../terminal/interrupt.js';
import type { Output } from '../terminal/output.js';
import { elicitationLines } from '../render/elicitation-lines.js';
import { deliveryLines, inert } from '../render/index.js';
import { usage, wholeNumber } from '../usage.js';

interface DecideOptions extends ActorOptions {
  readonly run?: string;
  readonly id?: string;
  readonly reason?: string;
  readonly value?: string;
  readonly amount?: GivenAmount;
  readonly args?: string;
  readonly tool?: string;
  readonly grantWhen?: string;
  readonly grantUses?: number;
  readonly grantFor?: string;
}

const SHAPE =
  '{askId, runId, status: "decided" | "pending" | "sent", delivered, verdict, amount, storeAway, agreed, frozen}';

export function addApprove(program: Command, cli: Cli): void {
  const command = program.command('approve').description('Approve what a question asks for.');
  withDecider(command)
    .option(AMOUNT_OPTION, AMOUNT_HELP, amountIn)
    .option('--grant-when <json>', 'covers later calls of the tool as well that fit: [{path, …}]')
    .option(
      '--grant-uses <count>',
      'with --grant-when: so many of them (default 1)',
      wholeNumber('--grant-uses', [1, 1_000]),
    )
    .option('--grant-for <duration>', 'with --grant-when: for this time (default 1h)')
    .addHelpText(
      'after',
      examples(
        "holdfast approve 'run_01J…:3' --as mia --role refund-manager",
        "HOLDFAST_TOKEN=… holdfast approve 'run_01J…:3' --desk https://desk.example.org",
        "holdfast approve 'run_01J…:budget:1' --amount '$0.50' --as mia",
        "holdfast approve 'run_01J…:budget:2' --amount 5min --as mia",
        "holdfast approve 'run_01J…:3' --run run_01J… --as mia   (while the store is away)",
        `holdfast approve 'run_01J…:3' --grant-when '[{"path":"amountCents","lte":500}]' --grant-uses 5 --as mia`,
      ),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'approved',
        wanted: (question) => approval(question, options),
      }),
    );
}

/** Errors: Usage for an amount that does not fit the question: the run would drop it, or take it for another one. */
export function approval(question: Question, options: DecideOptions): Wanted {
  const { amount } = options;
  const { askId, kind, args } = question;
  if (amount !== undefined && kind !== 'budget') {
    throw usage(`--amount goes with a budget: ${inert(askId)} is a question of the kind ${kind}.`);
  }
  const grant = grantOf(question, options);
  return {
    decision: 'approve',
    ...(amount !== undefined && { amount: amountFor(amount, args) }),
    ...(grant !== undefined && { grant }),
  };
}
export function addModify(program: Command, cli: Cli): void {
  const command = program
    .command('modify')
    .description('Approve a call with other arguments; they are checked before they are used.');
  withDecider(command)
    .requiredOption('--args <json>', 'all arguments of the call as they shall be')
    .addHelpText(
      'after',
      examples(
        `holdfast modify 'run_01J…:3' --args '{"orderId":"A-1","amountCents":500}' --as mia`,
      ),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'modified',
        wanted: () => ({ decision: 'modify', args: argsOf(options) }),
      }),
    );
}

export function addReplace(program: Command, cli: Cli): void {
  const command = program
    .command('replace')
    .description('Have another tool of the run called instead of the one that is asked about.');
  withDecider(command)
    .requiredOption('--tool <name>', 'the tool to call instead')
    .requiredOption('--args <json>', 'its arguments')
    .addHelpText(
      'after',
      examples(
        `holdfast replace 'run_01J…:3' --tool notes.write --args '{"text":"call back"}' --as mia`,
      ),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'replaced',
        wanted: () => ({
          decision: 'replace',
          tool: options.tool ?? '',
          args: argsOf(options),
        }),
      }),
    );
}

export function addReject(program: Command, cli: Cli): void {
  const command = program.command('reject').description('Reject what a question asks for.');
  withDecider(command)
    .addHelpText(
      'after',
      examples("holdfast reject 'run_01J…:3' --as mia --role refund-manager --reason 'no receipt'"),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'rejected',
        wanted: () => ({ decision: 'reject' }),
      }),
    );
}

export function addAnswer(program: Command, cli: Cli): void {
  const command = program
    .command('answer')
    .description(
      'Answer a question: whether a call in doubt happened, not_happened or the run shall stop; or, to a question of the agent, a text. The form of a server is filled in at a terminal when no answer is given.',
    );
  withDecider(command, '[answer...]')
    .option('--value <json>', 'with happened: what the tool would have returned')
    .addHelpText(
      'after',
      examples(
        `holdfast answer 'run_01J…:3:outcome' happened --value '{"refundId":"rf_9"}' --as mia`,
        "holdfast answer 'run_01J…:3:outcome' not_happened --as mia",
        "holdfast answer 'run_01J…:2' 'the blue one' --as mia",
        "holdfast answer 'run_01J…:4:elicit:1' --as mia   (a form, field by field)",
      ),
    )
    .action((askId: string, words: readonly string[], options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'answered',
        wanted: (question, output) =>
          words.length === 0
            ? filledIn(cli, question, output)
            : answerOf(question, words.join(' '), options),
      }),
    );
}

function withDecider(command: Command, rest?: string): Command {
  command.argument('<ask>', 'id of the question (see holdfast approvals)');
  if (rest !== undefined) command.argument(rest, 'happened, not_happened, stop, or a text');
  withActor(command, 'who decides')
    .option('--reason <text>', `why, in at most ${REASON_CHARS_MAX} characters`, someReason)
    .option(
      '--run <id>',
      'the run of the question: needed while the store is away; what is said then is sent, and the run says whether it counts',
    )
    .option('--id <id>', `the same id again is the same decision; ${REQUEST_ID}`, requestId);
  return withJson(withPlace(command), SHAPE);
}

/** The run would cut what is longer. */
function someReason(text: string): string {
  if (text.length <= REASON_CHARS_MAX) return text;
  throw usage(
    `--reason has at most ${REASON_CHARS_MAX} characters, not ${text.length}.`,
    'Nothing was sent: give a shorter reason.',
  );
}

interface DecisionWanted {
  readonly askId: string;
  readonly verb: string;
  readonly wanted: (question: Question, output: Output) => Wanted | Promise<Wanted>;
}

function deliver(cli: Cli, options: DecideOptions, asked: DecisionWanted): Promise<void> {
  return runCommand(cli, options, async (session, output) => {
    const actor = await actorOf(cli, session, options);
    const deciding =
      actor.kind === 'desk'
        ? decidingAtDesk(actor.api)
        : decidingDirectly(session, await session.clientThoughStoreAway(), actor.named);
    const question = await deciding.find(asked.askId, options.run);
    const { reason, id } = options;
    const words = { ...(reason !== undefined && { reason }), ...(id !== undefined && { id }) };
    const wanted = await asked.wanted(question, output);
    const frozen = allows(wanted) ? await deciding.frozen(question) : undefined;
    const delivery = await deciding.deliver(question, wanted, words);
    const { askId, runId } = question;
    const status = statusOf(delivery);
    const agreed = status === 'pending' ? await deciding.agreed(question) : undefined;
    const amount = amountAllowed(question, wanted);
    const more = {
      ...(agreed !== undefined && { agreed }),
      ...(frozen !== undefined && { frozen }),
    };
    output.data({ askId, runId, status, ...delivery, ...(amount && { amount }), ...more });
    const { verb } = asked;
    const allowed = amount === undefined ? undefined : allowedText(question.args, amount);
    // Under a name that was used before, the first amount counts.
    const isNamed = id !== undefined;
    const told = { ...more, isNamed, ...(allowed !== undefined && { allowed }) };
    for (const line of deliveryLines({ askId, runId, verb, delivery, ...told }))
      output.line(output.paint.own(line));
  });
}

/** How much more of a budget; undefined: none is allowed, or nobody can say how much. */
function amountAllowed({ kind, args }: Question, wanted: Wanted): number | undefined {
  if (kind !== 'budget' || wanted.decision !== 'approve') return undefined;
  return wanted.amount ?? askedAmount(args);
}

function allows({ decision }: Wanted): boolean {
  return decision === 'approve' || decision === 'modify' || decision === 'replace';
}

function statusOf(delivery: Delivery): 'decided' | 'pending' | 'sent' {
  if (delivery.delivered === 'signal') return 'sent';
  const { verdict } = delivery;
  return verdict.accepted && verdict.outcome === 'pending' ? 'pending' : 'decided';
}

/** Of the form of a server. Errors: Usage where nobody types, or there is no form. */
async function filledIn(cli: Cli, { elicitation }: Question, output: Output): Promise<Wanted> {
  const { interactive } = cli.environment;
  if (elicitation === undefined || !interactive) {
    throw usage(
      'The answer is missing.',
      elicitation === undefined
        ? 'Give the text of the answer behind the id of the question.'
        : 'Give JSON that fits the form of the question (see `holdfast approvals --json`), decline or cancel; at a terminal the form is filled in field by field.',
    );
  }
  const interrupt = onInterrupt();
  const { lineSource } = await import('../chat/line-source.js');
  const { formTerminal } = await import('../chat/ask-person.js');
  const { fillForm } = await import('../chat/elicit-form.js');
  const stop = new AbortController();
  const lines = lineSource({
    input: cli.input ?? process.stdin,
    ...(cli.input === undefined && { terminal: process.stdout }),
    write: output.piece,
    onInterrupt: () => stop.abort(),
  });
  try {
    for (const line of [elicitation.message, ...elicitationLines(elicitation)]) {
      output.line(inert(line, MESSAGE_CHARS_MAX));
    }
    const signal = AbortSignal.any([interrupt.signal, stop.signal]);
    const value = await fillForm(elicitation, formTerminal({ lines, output }, signal));
    if (value !== null) return { decision: 'answer', value };
    throw usage('The question was not answered, and stays open.');
  } finally {
    lines.close();
    interrupt.release();
  }
}

const MESSAGE_CHARS_MAX = 2_000;

function answerOf({ kind }: Question, text: string, options: DecideOptions): Wanted {
  const { value } = options;
  if (value !== undefined && text !== 'happened') {
    throw usage('--value goes with the answer happened only.');
  }
  if (kind !== 'outcome') return { decision: 'answer', value: text };
  if (text === 'not_happened' || text === 'stop') return { decision: text };
  if (text === 'happened') {
    return { decision: text, ...(value !== undefined && { value: jsonOf('--value', value) }) };
  }
  throw usage(
    `"${text.slice(0, 40)}" is no answer to whether a call happened.`,
    'Answer happened, not_happened or stop.',
  );
}

const GRANT_MS = 3_600_000;

/** Whether the run takes it, and whether its conditions mean anything, the run says. */
function grantOf({ tool }: Question, options: DecideOptions): GrantRequest | undefined {
  const { grantWhen, grantUses = 1, grantFor } = options;
  if (grantWhen === undefined) {
    if (options.grantUses === undefined && grantFor === undefined) return undefined;
    throw usage('--grant-uses and --grant-for go with --grant-when.');
  }
  const when = jsonOf('--grant-when', grantWhen);
  const expiresInMs = grantFor === undefined ? GRANT_MS : parseDuration(grantFor);
  if (expiresInMs === undefined || expiresInMs <= 0) {
    throw usage('--grant-for is a duration: 30m, 24h.');
  }
  if (!Array.isArray(when) || tool === undefined) {
    throw usage('--grant-when is a list of conditions, and goes with the approval of a tool.');
  }
  const matcher = { tool, when: when as unknown as GrantRequest['matcher']['when'] };
  return { matcher, uses: grantUses, expiresInMs };
}

function argsOf({ args = '' }: DecideOptions): Json {
  return jsonOf('--args', args);
}

function jsonOf(option: string, text: string): Json {
  const parsed = parseJsonText(text);
  if (parsed.ok) return parsed.value as Json;
  throw usage(`${option} is no JSON: column ${parsed.column}: ${parsed.reason}.`);
}
