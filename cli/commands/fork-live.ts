/** `holdfast fork --live`: a fork that runs on the server, with effects. */
import { createInterface } from 'node:readline/promises';
import { forkRefusal } from '../../core/loop/fork.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isOpen, type Run } from '../../core/state/run.js';
import { withTerms } from '../../evaluation/fork/frozen.js';
import { forkOutcomes } from '../../recording/fork-outcomes.js';
import type { RunFold } from '../../recording/fold.js';
import type { Cli } from '../command.js';
import { configurationOf } from '../desk/model-access.js';
import type { Recorded } from '../desk/recorded.js';
import { neededStore, type Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { usage } from '../usage.js';
import { changesOf, type ForkOptions } from './fork-options.js';

interface Asked {
  readonly fold: RunFold;
  readonly recorded: Recorded;
  readonly options: ForkOptions;
  readonly session: Session;
}

export async function forkLive(
  cli: Cli,
  { fold, recorded, options, session }: Asked,
  output: Output,
): Promise<void> {
  refuse(recorded, options);
  const { after } = fold.at(options.at);
  const reason = forkRefusal(after);
  if (reason !== undefined || !isOpen(after)) {
    throw new HoldfastError('ForkRefused', reason ?? '', {
      hint: '`holdfast inspect RUN` lists the steps; `holdfast fork … --plan` shows what a fork would begin with.',
    });
  }
  const config = await configurationOf(cli.environment.folder, undefined);
  const { route, policy, budget, message, results } = await changesOf(cli, options, config);
  const store = await neededStore(session);
  const texts = await Promise.all(
    Object.entries(results ?? {}).map(
      async ([id, text]) => [id, await store.putText(after.tenant, text)] as const,
    ),
  );
  if (!(await isWanted(cli, after))) {
    output.remark('No fork was started.');
    return;
  }
  const { modelChoice: _, ...chosen } = after;
  const client = await session.client();
  const run = await client.fork({
    store,
    fork: {
      run: route === undefined ? after : chosen,
      step: options.at,
      outcomes: forkOutcomes(fold, options.at),
      frozen: withTerms(after.frozen, { route, policy, budget }),
      ...(message !== undefined && { message }),
      ...(texts.length > 0 && { results: Object.fromEntries(texts) }),
      ...(options.rules === undefined && { keepsRules: true }),
    },
  });
  output.data({ mode: 'live', runId: run.runId, forked: { runId: after.runId, step: options.at } });
  output.line(run.runId);
}

function refuse({ source, bundle }: Recorded, options: ForkOptions): void {
  if (bundle.redactions.length > 0) {
    throw usage('A redacted bundle is forked dry only.', 'Leave out --live.');
  }
  if (source === 'file') {
    throw usage(
      '--live needs a run that the store has: forks of files are played dry.',
      'Name the run by its id, or leave out --live.',
    );
  }
  const named = (['instructions', 'tool', 'config'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (named === undefined) return;
  throw usage(
    `--${named} is not built for forks that run live.`,
    'Leave out --live to play the fork dry with it.',
  );
}

/** At a terminal somebody is asked; elsewhere the option itself is the word. */
async function isWanted({ environment, input }: Cli, { runId }: Run): Promise<boolean> {
  if (!environment.interactive) return true;
  const lines = createInterface({ input: input ?? process.stdin, output: process.stderr });
  try {
    const word = await lines.question(
      `This starts a new run from the state of ${runId}, and its effects happen. Start it? [y/N] `,
    );
    return /^y(es)?$/i.test(word.trim());
  } finally {
    lines.close();
  }
}
