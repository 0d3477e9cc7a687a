/** `holdfast freeze`: stops tools, agents or everything at once, also in runs under way; lifts it again. */
import type { Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import {
  FREEZE_PATTERN,
  FREEZE_TEXT_CHARS_MAX,
  isInForce,
  type Freeze,
  type FreezeScope,
} from '../../pure/freeze.js';
import { withActor, type ActorOptions } from '../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { parseDuration } from '../terminal/duration.js';
import type { Output } from '../terminal/output.js';
import { dateTimeText, inert, table } from '../render/index.js';
import { freezingBy, type Freezing } from '../desk/freezing.js';
import { usage } from '../usage.js';

interface FreezeOptions extends ActorOptions {
  readonly tool?: string;
  readonly agent?: string;
  readonly tenant?: boolean;
  readonly list?: boolean;
  readonly lift?: string;
  readonly reason?: string;
  readonly for?: string;
}

export function addFreeze(program: Command, cli: Cli): void {
  const command = program
    .command('freeze')
    .description(
      'Stop changes: those of a tool, of an agent, or all. A freeze binds from the next claim on, also in runs under way.',
    )
    .option('--tool <pattern>', "a tool's name, or a prefix of names that ends in *")
    .option('--agent <name>', 'every run of this agent')
    .option('--tenant', 'every run')
    .option('--list', 'list what was ever frozen, newest first')
    .option('--lift <id>', 'end a freeze')
    .option('--reason <text>', 'why, which a freeze needs; models that meet it are told')
    .option('--for <duration>', 'ends by itself after this time: 30m, 24h');
  withJson(withPlace(withActor(command, 'who freezes or lifts')), '{freeze} or {freezes: […]}')
    .addHelpText(
      'after',
      examples(
        "holdfast freeze --tool 'payments.*' --reason 'fraud wave' --as mia",
        'holdfast freeze --agent refund --for 2h --reason maintenance --as mia',
        'holdfast freeze --list',
        'holdfast freeze --lift frz_01J… --as mia',
      ),
    )
    .action((options: FreezeOptions) =>
      runCommand(cli, options, async (session, output) => {
        checkWanted(options);
        await carryOut(await freezingBy(cli, session, options), output, options);
      }),
    );
}

/** Before anything is looked for. */
function checkWanted({ list: isList, lift: id, tool, agent, tenant, reason }: FreezeOptions): void {
  const wanted = [isList, id, tool, agent, tenant].filter((one) => one !== undefined);
  if (wanted.length !== 1) {
    throw usage('Give exactly one of --tool, --agent, --tenant, --list and --lift.');
  }
  if (isList === undefined && id === undefined) named('--reason', reason);
}

function carryOut(freezing: Freezing, output: Output, options: FreezeOptions): Promise<void> {
  if (options.list === true) return list(freezing, output);
  return options.lift === undefined
    ? set(freezing, output, options)
    : lift(freezing, output, { ...options, id: options.lift });
}

async function set(freezing: Freezing, output: Output, options: FreezeOptions): Promise<void> {
  const forMs = durationOf(options);
  const freeze = await freezing.set({
    scope: scopeOf(options),
    reason: named('--reason', options.reason),
    ...(forMs !== undefined && { forMs }),
  });
  output.data({ freeze });
  output.line(`Frozen: ${scopeText(freeze.scope)}. Nothing of it starts any more.`);
  output.line(output.paint.own(`Lift it with: holdfast freeze --lift ${inert(freeze.id)}`));
}

function scopeOf({ tool, agent }: FreezeOptions): FreezeScope {
  if (tool !== undefined) {
    if (!FREEZE_PATTERN.test(tool)) {
      throw usage("--tool is a tool's name, or a prefix of names that ends in *.");
    }
    return { kind: 'tool', pattern: tool };
  }
  return agent === undefined
    ? { kind: 'tenant' }
    : { kind: 'agent', agent: named('--agent', agent) };
}

function durationOf({ for: text }: FreezeOptions): number | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs > 0) return durationMs;
  throw usage('--for is a duration: 30m, 24h.');
}

function named(option: string, text: string | undefined): string {
  const clean = text?.trim() ?? '';
  if (clean !== '' && clean.length <= FREEZE_TEXT_CHARS_MAX) return clean;
  throw usage(`${option} is needed: a text of at most ${FREEZE_TEXT_CHARS_MAX} characters.`);
}

async function lift(
  freezing: Freezing,
  output: Output,
  { id, reason }: FreezeOptions & { readonly id: string },
): Promise<void> {
  const because = reason === undefined ? undefined : named('--reason', reason);
  const freeze = await freezing.lift(id, because);
  if (freeze === undefined) {
    throw new HoldfastError('InvalidRequest', `No freeze ${inert(id)} is in force.`, {
      hint: 'See them with `holdfast freeze --list`.',
    });
  }
  output.data({ freeze });
  output.line(`Lifted: ${scopeText(freeze.scope)}.`);
}

async function list(freezing: Freezing, output: Output): Promise<void> {
  const freezes = await freezing.list();
  const now = Date.now();
  output.data({
    freezes: freezes.map((freeze) => ({ ...freeze, inForce: isInForce(freeze, now) })),
  });
  if (freezes.length === 0) return output.line('Nothing was ever frozen.');
  output.line(
    table({
      head: ['freeze', 'in force', 'what', 'by', 'since', 'until', 'reason'],
      rows: freezes.map((freeze) => rowOf(freeze, now)),
      paint: output.paint,
    }),
  );
}

function rowOf(freeze: Freeze, now: number): readonly string[] {
  const { id, scope, by, at, until, lifted, reason } = freeze;
  const end = lifted === undefined ? until : lifted.at;
  const endText = end === undefined ? 'it is lifted' : dateTimeText(end);
  return [
    id,
    isInForce(freeze, now) ? 'yes' : 'no',
    scopeText(scope),
    by,
    dateTimeText(at),
    lifted === undefined ? endText : `${endText} by ${lifted.by}`,
    reason.slice(0, 80),
  ];
}

function scopeText(scope: FreezeScope): string {
  switch (scope.kind) {
    case 'tool':
      return `tool ${inert(scope.pattern)}`;
    case 'agent':
      return `agent ${inert(scope.agent)}`;
    case 'tenant':
      return 'everything';
  }
}
