/** `holdfast failures`: runs that ended without completing, in groups of those that ended alike. */
import type { Command } from 'commander';
import type { FailureGroup, Failures } from '../../client/read/failures.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type DeskOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { queryText, someText } from '../desk/paging.js';
import { moment } from '../desk/times.js';
import { dateTimeText, inert, plural, relativeText, table, usdText } from '../render/index.js';
import type { Output } from '../terminal/output.js';
import { neededStore, type Session } from '../session.js';

interface FailuresOptions extends DeskOptions, TenantOptions {
  readonly since?: number;
  readonly until?: number;
  readonly agent?: string;
  readonly all?: boolean;
}

const SINCE_DEFAULT_MS = 7 * 86_400_000;

export function addFailures(program: Command, cli: Cli): void {
  const command = program
    .command('failures')
    .description(
      'Group the runs that ended without completing by stop reason, detail, the rule that ended them, and the tool and code of their last error.',
    )
    .option(
      '--since <time>',
      'ended since then: 7d, 90m, 2026-11-01 (default 7d)',
      moment('--since'),
    )
    .option('--until <time>', 'ended until then', moment('--until'))
    .option('--agent <name>', 'only runs of this agent', someText('--agent'))
    .option('--all', 'also runs that completed, in groups by their last error');
  withJson(
    withPlace(withDesk(withTenant(command))),
    '{since, until, ended, failed, groups: [{stopReason, detail, rule, tool, code, count, newest, costMicroUsd, over}], truncated}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast failures',
        'holdfast failures --since 24h --agent refund --json',
        'holdfast failures --all --agent refund',
      ),
    )
    .action((options: FailuresOptions) =>
      runCommand(cli, options, async (session, output) => {
        print(await failures(cli, session, options), output);
      }),
    );
}

async function failures(cli: Cli, session: Session, options: FailuresOptions): Promise<Failures> {
  const now = Date.now();
  const { since = now - SINCE_DEFAULT_MS, until = now, agent, all } = options;
  const query = {
    since,
    until,
    ...(agent !== undefined && { agent }),
    ...(all === true && { all }),
  };
  const api = readingDeskOf(cli, options);
  if (api !== undefined) {
    return (await api.get(`/v1/failures?${queryText(query)}`)) as unknown as Failures;
  }
  const { failuresOf } = await import('../../client/read/failures.js');
  return failuresOf(await neededStore(session), tenantOf(options), query);
}

function print(found: Failures, output: Output): void {
  output.data(found);
  if (output.json) return;
  const { groups, ended, failed, since, truncated } = found;
  if (groups.length === 0) {
    output.line(`No run has failed since ${dateTimeText(since)}; ${ended} ended.`);
  } else {
    const head = ['runs', 'stop reason', 'rule', 'last error', 'cost', 'newest', 'run'];
    output.line(table({ head, rows: groups.map(rowOf), paint: output.paint }));
    output.line(
      `${failed} of ${plural(ended, 'run')} that ended since ${dateTimeText(since)} did not complete.`,
    );
  }
  if (truncated) output.remark('There are more runs than are looked at; name a shorter time.');
}

function rowOf(group: FailureGroup): readonly string[] {
  const { stopReason, detail, rule, tool, code, count, newest, costMicroUsd } = group;
  return [
    String(count),
    inert(detail === null ? stopReason : `${stopReason}: ${detail}`, 60),
    rule ?? '',
    tool === null ? '' : inert(`${tool} ${code ?? ''}`, 40),
    usdText(costMicroUsd),
    relativeText(newest.endedAt, Date.now()),
    newest.runId,
  ];
}
