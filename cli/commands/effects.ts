/** `holdfast effects`: what was done for a business object, by which run, on whose word. */
import type { Command } from 'commander';
import type { EffectRow } from '../../store/effect-lookup.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type ActorOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { restoredIn, restoredRemark } from '../desk/restored.js';
import type { Page } from '../desk/paging.js';
import type { Output } from '../terminal/output.js';
import { dateTimeText, inert, table } from '../render/index.js';
import { neededStore, type Session } from '../session.js';
import { usage, wholeNumber } from '../usage.js';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;

interface EffectsOptions extends ActorOptions, TenantOptions {
  readonly identity?: string;
  readonly order?: string;
  readonly limit?: number;
}

export function addEffects(program: Command, cli: Cli): void {
  const command = program
    .command('effects')
    .description(
      'List effects that happened, or may have happened, for a business object. A tool names the object by its identity.',
    )
    .option('--identity <text>', 'one of the texts of the identity')
    .option('--order <id>', 'the same, for orders')
    .option(
      '--limit <count>',
      `at most this many (default ${LIMIT_DEFAULT})`,
      wholeNumber('--limit', [1, LIMIT_MAX]),
    );
  withJson(
    withPlace(withDesk(withTenant(command))),
    '{effects: [{tool, state, runId, at, amount, approvedBy, …}], restoredAt?}',
  )
    .addHelpText(
      'after',
      examples('holdfast effects --order A-1', "holdfast effects --identity 'IBAN DE00…' --json"),
    )
    .action((options: EffectsOptions) =>
      runCommand(cli, options, (session, output) => show(cli, session, { output, options })),
    );
}

interface Showing {
  readonly output: Output;
  readonly options: EffectsOptions;
}

async function show(cli: Cli, session: Session, { output, options }: Showing): Promise<void> {
  const { identity, order, limit = LIMIT_DEFAULT } = options;
  const subject = identity ?? order;
  if (subject === undefined || subject === '' || (identity !== undefined && order !== undefined)) {
    throw usage('Give either --identity or --order.');
  }
  const api = readingDeskOf(cli, options);
  const query = new URLSearchParams({ subject, limit: String(limit) });
  const { items: effects, restoredAt } =
    api === undefined
      ? {
          items: await (
            await neededStore(session)
          ).listEffects(tenantOf(options), { subject, limit }),
          restoredAt: await restoredIn(session),
        }
      : ((await api.get(`/v1/effects?${query.toString()}`)) as unknown as Page<EffectRow>);
  output.data({ effects, ...(restoredAt !== undefined && { restoredAt }) });
  if (restoredAt !== undefined) output.remark(restoredRemark(restoredAt));
  if (effects.length === 0) {
    return output.line(
      `Nothing was done for ${inert(subject)}, as far as tools say what they are about.`,
    );
  }
  output.line(
    table({
      head: ['at', 'tool', 'state', 'amount', 'for', 'run', 'agent', 'on the word of'],
      rows: effects.map(rowOf),
      paint: output.paint,
    }),
  );
  if (effects.length === limit) output.remark(`The newest ${limit}; more with --limit.`);
}

const STATES = {
  done: 'done',
  under_way: 'under way',
  in_doubt: 'in doubt',
} as const;

function rowOf(effect: EffectRow): readonly string[] {
  const { at, tool, toolVersion, state, amount, identity, runId, agent } = effect;
  const word = effect.approvedBy.length > 0 ? effect.approvedBy.join(', ') : effect.reference;
  return [
    dateTimeText(at),
    `${tool}@${toolVersion}`,
    STATES[state],
    amount === undefined ? '' : String(amount),
    identity.join(', '),
    runId,
    agent,
    word,
  ];
}
