/** `holdfast store`: which store this is, and what people have to tell it: that it was restored, which runs it adopts. */
import type { Command } from 'commander';
import { RIGHT_STORE } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { shownPlace } from '../../store/place.js';
import { isPromotion } from '../../store/identity.js';
import { restorationsIn } from '../../store/restored.js';
import type { Store } from '../../store/store.js';
import { withTenant, tenantOf, type TenantOptions } from '../desk/actor.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { Output } from '../terminal/output.js';
import { dateTimeText, inert } from '../render/index.js';
import { neededStore, type Session } from '../session.js';
import { usage } from '../usage.js';

interface NamedOptions extends CommonOptions {
  readonly as?: string;
}

const TEXT_CHARS_MAX = 200;

export function addStore(program: Command, cli: Cli): void {
  const store = program
    .command('store')
    .description('The store: what it is, that it was restored, which runs it adopts.');
  addStoreShow(store, cli);
  addRestored(store, cli);
  addAdopt(store, cli);
}

function addStoreShow(store: Command, cli: Cli): void {
  const command = store
    .command('show')
    .description('Show the place, the identity and the epoch of the store, and its restorations.');
  withJson(withPlace(command), '{place, id, epoch, restorations: [{at, by, reason, promotion?}]}')
    .addHelpText('after', examples('holdfast store show', 'holdfast store show --store other.db'))
    .action((options: CommonOptions) =>
      runCommand(cli, options, async (session, output) => {
        await show(await neededStore(session), session, output);
      }),
    );
}

async function show(store: Store, session: Session, output: Output): Promise<void> {
  const { id, epoch } = await store.identity(Date.now());
  const place = shownPlace(session.place.storePlace);
  const rows = await restorationsIn(store);
  const restorations = rows.map((row) => ({
    at: row.at,
    by: row.by ?? '',
    reason: typeof row.facts.reason === 'string' ? row.facts.reason : '',
    ...(isPromotion(row) && { promotion: true as const }),
  }));
  output.data({ place, id, epoch, restorations });
  output.line(`The store ${id} at ${inert(place)}, epoch ${epoch}.`);
  for (const { at, by, reason, promotion } of restorations) {
    const what = promotion ? 'promoted, or restored within its cluster' : 'restored';
    output.line(`  ${dateTimeText(at)}  ${what}, says ${inert(by)}: ${inert(reason)}`);
  }
}

function addRestored(store: Command, cli: Cli): void {
  const command = store
    .command('restored')
    .description(
      'Say that an older copy has taken the place of the store, before workers start again. Calls that were handed over before and that the copy has no record of are then unknown: the tool’s probe or a person is asked.',
    )
    .option('--as <name>', 'who says so, for the audit trail')
    .option('--reason <text>', 'why, for the audit trail', 'declared');
  withJson(withPlace(command), '{id, epoch}')
    .addHelpText('after', examples("holdfast store restored --as mia --reason 'disk of db-1'"))
    .action((options: NamedOptions & { readonly reason: string }) =>
      runCommand(cli, options, async (session, output) => {
        const by = named('--as', options.as);
        const reason = named('--reason', options.reason);
        const opened = await neededStore(session);
        const { id, epoch } = await opened.raiseEpoch({ at: Date.now(), by, reason });
        output.data({ id, epoch });
        output.line(`The store ${id} is in epoch ${epoch} now.`);
      }),
    );
}

function addAdopt(store: Command, cli: Cli): void {
  const command = store
    .command('adopt <run>')
    .description(
      'Let a run that was begun with another store, which is gone for good, go on with this one. Calls that this store has no record of are unknown: the tool’s probe or a person is asked.',
    )
    .option('--as <name>', 'who says so, for the audit trail');
  withJson(withTenant(withPlace(command)), '{runId, id, adopted}')
    .addHelpText('after', examples('holdfast store adopt run_01J… --as mia'))
    .action((runId: string, options: NamedOptions & TenantOptions) =>
      runCommand(cli, options, (session, output) =>
        adopt(session, output, {
          runId,
          tenant: tenantOf(options),
          by: named('--as', options.as),
        }),
      ),
    );
}

interface Adopting {
  readonly runId: string;
  readonly tenant: string;
  readonly by: string;
}

async function adopt(session: Session, output: Output, { runId, tenant, by }: Adopting) {
  const store = await neededStore(session);
  const waits = await (await session.client()).forTenant(tenant).waits(runId);
  if (!waits.some((wait) => wait.for === RIGHT_STORE)) {
    throw new HoldfastError(
      'InvalidRequest',
      `The run ${inert(runId)} does not wait for another store.`,
      {
        hint: 'Start a worker with this store first: a run waits for its own store once such a worker has met it.',
      },
    );
  }
  const { id } = await store.identity(Date.now());
  const adopted = await store.adoptRun({ tenant, runId, at: Date.now(), by });
  output.data({ runId, id, adopted });
  output.line(
    adopted
      ? `The run ${inert(runId)} goes on with the store ${id}.`
      : `The store ${id} had adopted the run ${inert(runId)} before.`,
  );
}

function named(option: string, text: string | undefined): string {
  const clean = text?.trim() ?? '';
  if (clean !== '' && clean.length <= TEXT_CHARS_MAX && !/\p{C}/u.test(clean)) return clean;
  throw usage(`${option} is needed: 1 to ${TEXT_CHARS_MAX} readable characters.`);
}
