/** `holdfast doctor`: what is wrong here, and how to mend it. */
import type { Command } from 'commander';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { signingKeyFile } from '../desk/desk.js';
import { allChecks, type Premises } from '../doctor/all-checks.js';
import type { Check } from '../doctor/check.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../terminal/output.js';
import { inert } from '../render/index.js';
import type { Session } from '../session.js';
import { withConfig } from './worker.js';

type DoctorOptions = CommonOptions;

export function addDoctor(program: Command, cli: Cli): void {
  const command = program
    .command('doctor')
    .description(
      'Check Node, server, namespace, workers, store, histories that are not archived, configuration, model key and stuck runs (also those that have waited for a worker, the store or the like for more than 60 s). A check that needs a broken part is skipped. The command exits with 1 when a part is broken.',
    );
  withJson(withPlace(withConfig(command)), '{ok, checks: [{name, status, found, mend}]}')
    .addHelpText('after', examples('holdfast doctor', 'holdfast doctor --json'))
    .action((options: DoctorOptions) =>
      runCommand(cli, options, async (session, output) => {
        const checks = await allChecks(session, await premisesOf(cli, session));
        const healthy = checks.every(({ status }) => status !== 'broken');
        output.data({ ok: healthy, checks });
        for (const check of checks) print(check, output);
        return healthy ? EXIT.completed : EXIT.error;
      }),
    );
}

async function premisesOf(cli: Cli, session: Session): Promise<Premises> {
  const { environment } = cli;
  const { folder } = environment;
  return {
    place: session.place,
    folder,
    // Credentials that cannot be used are of a server that was named.
    addressGiven: await session.named().then(
      ({ isNamed }) => isNamed,
      () => session.place.named.address !== undefined,
    ),
    keyFile: signingKeyFile(environment, session.place.home),
  };
}

const MARKS = { ok: 'ok', warning: 'note', broken: 'BROKEN', not_checked: '-' } as const;
const MARK_WIDTH = 7;
const NAME_WIDTH = 18;

function print({ name, status, found, mend }: Check, output: Output): void {
  const { paint } = output;
  const { green: ok, yellow: warning, red: broken, dim: not_checked } = paint;
  const colour = { ok, warning, broken, not_checked }[status];
  const mark = colour(MARKS[status].padEnd(MARK_WIDTH));
  output.line(`${mark} ${name.padEnd(NAME_WIDTH)} ${inert(found, 1_000)}`);
  if (mend !== undefined)
    output.line(`${' '.repeat(MARK_WIDTH + NAME_WIDTH + 2)}→ ${paint.own(inert(mend, 1_000))}`);
}
