/** `holdfast approve`, `reject`, `modify`, `replace` and `answer`: what a person decides. */
import type { Command } from 'commander';
import type {
  Allowance,
  Answer,
  Decider,
  Delivery,
  FoundAsk,
  RunHandle,
} from '../../client/index.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { Json } from '../../core/json.js';
import { parseJsonText } from '../../core/json-text.js';
import type { Output } from '../output.js';
import { inert } from '../render/index.js';
import { collect, usage, wholeNumber } from '../usage.js';

interface DecideOptions extends CommonOptions {
  readonly by: string;
  readonly role?: readonly string[];
  readonly reason?: string;
  readonly value?: string;
  readonly amount?: number;
  readonly args?: string;
  readonly tool?: string;
}

const SHAPE = '{askId, runId, delivered, verdict}';

export function addApprove(program: Command, cli: Cli): void {
  const command = program.command('approve').description('Approve what a question asks for.');
  withDecider(command)
    .option(
      '--amount <number>',
      'of a question about a budget: how much more, in its own unit',
      wholeNumber('--amount', [1, Number.MAX_SAFE_INTEGER]),
    )
    .addHelpText(
      'after',
      examples(
        "holdfast approve 'run_01J…:3' --by mia --role refund-manager",
        "holdfast approve 'run_01J…:budget:1' --amount 500000 --by mia",
      ),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'approved',
        send: (run, decider) => run.approve(askId, decider, allowanceOf(options)),
      }),
    );
}

function allowanceOf({ amount }: DecideOptions): Allowance {
  return amount === undefined ? {} : { amount };
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
        `holdfast modify 'run_01J…:3' --args '{"orderId":"A-1","amountCents":500}' --by mia`,
      ),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'modified',
        send: (run, decider) => run.modify(askId, argsOf(options), decider),
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
        `holdfast replace 'run_01J…:3' --tool notes.write --args '{"text":"call back"}' --by mia`,
      ),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'replaced',
        send: (run, decider) =>
          run.replace(askId, { tool: options.tool ?? '', args: argsOf(options) }, decider),
      }),
    );
}

export function addReject(program: Command, cli: Cli): void {
  const command = program.command('reject').description('Reject what a question asks for.');
  withDecider(command)
    .addHelpText(
      'after',
      examples("holdfast reject 'run_01J…:3' --by mia --role refund-manager --reason 'no receipt'"),
    )
    .action((askId: string, options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'rejected',
        send: (run, decider) => run.reject(askId, decider),
      }),
    );
}

export function addAnswer(program: Command, cli: Cli): void {
  const command = program
    .command('answer')
    .description(
      'Answer a question: whether a call in doubt happened, not_happened or the run shall stop; or, to a question of the agent, a text.',
    );
  withDecider(command, '<answer...>')
    .option('--value <json>', 'with happened: what the tool would have returned')
    .addHelpText(
      'after',
      examples(
        `holdfast answer 'run_01J…:3:outcome' happened --value '{"refundId":"rf_9"}' --by mia`,
        "holdfast answer 'run_01J…:3:outcome' not_happened --by mia",
        "holdfast answer 'run_01J…:2' 'the blue one' --by mia",
      ),
    )
    .action((askId: string, words: readonly string[], options: DecideOptions) =>
      deliver(cli, options, {
        askId,
        verb: 'answered',
        send: (run, decider, found) => run.answer(askId, answerOf(found, words, options), decider),
      }),
    );
}

function withDecider(command: Command, rest?: string): Command {
  command.argument('<ask>', 'id of the question (see holdfast approvals)');
  if (rest !== undefined) command.argument(rest, 'happened, not_happened, stop, or a text');
  command
    .requiredOption('--by <name>', 'who decides')
    .option('--role <role>', 'a role of theirs; repeatable', collect)
    .option('--reason <text>', 'why');
  return withJson(withPlace(command), SHAPE);
}

type Send = (run: RunHandle, decider: Decider, found: FoundAsk) => Promise<Delivery>;

interface Asked {
  readonly askId: string;
  readonly verb: string;
  readonly send: Send;
}

function deliver(cli: Cli, options: DecideOptions, asked: Asked): Promise<void> {
  return runCommand(cli, options, async (session, output) => {
    const { by, role, reason } = options;
    const client = await session.client();
    const found = await client.findAsk(asked.askId);
    const decider = {
      by,
      ...(role !== undefined && { roles: role }),
      ...(reason !== undefined && { reason }),
    };
    const delivery = await asked.send(client.handle(found.runId, found.tenant), decider, found);
    output.data({ askId: asked.askId, runId: found.runId, ...delivery });
    print(delivery, { ...asked, runId: found.runId }, output);
  });
}

function print(
  delivery: Delivery,
  { askId, verb, runId }: Omit<Asked, 'send'> & { readonly runId: string },
  output: Output,
): void {
  const follow = `Follow the run: holdfast watch ${runId}`;
  if (delivery.delivered === 'signal') {
    output.line(`${inert(askId)}: sent. The run takes it up as soon as a worker runs. ${follow}`);
    return;
  }
  const open = delivery.verdict.accepted && delivery.verdict.outcome === 'pending';
  const more = open ? ' More people have to decide, or the run is not there yet.' : '';
  output.line(`${inert(askId)}: ${verb}.${more} ${follow}`);
}

function answerOf(found: FoundAsk, words: readonly string[], options: DecideOptions): Answer {
  const text = words.join(' ');
  if (options.value !== undefined && text !== 'happened') {
    throw usage('--value goes with the answer happened only.');
  }
  if (found.ask.kind !== 'outcome') return { kind: 'text', value: text };
  if (text === 'not_happened' || text === 'stop') return { kind: text };
  if (text === 'happened') {
    return {
      kind: text,
      ...(options.value !== undefined && { value: jsonOf('--value', options.value) }),
    };
  }
  throw usage(
    `"${text.slice(0, 40)}" is no answer to whether a call happened.`,
    'Answer happened, not_happened or stop.',
  );
}

function argsOf({ args = '' }: DecideOptions): Json {
  return jsonOf('--args', args);
}

function jsonOf(option: string, text: string): Json {
  const parsed = parseJsonText(text);
  if (parsed.ok) return parsed.value as Json;
  throw usage(`${option} is no JSON: column ${parsed.column}: ${parsed.reason}.`);
}
