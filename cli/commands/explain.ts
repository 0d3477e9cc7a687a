/** `holdfast explain`: which rule decided what in a run, in words, and what to do next. */
import type { Command } from 'commander';
import { explainRun, nextActionOf, type Explanation } from '../../pure/explain.js';
import { knownAfter, type EndedRun } from '../../pure/next-action.js';
import { HoldfastError } from '../../core/state/errors.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { inert, shellWord } from '../render/index.js';
import { knownOf, lastEvents, noSuchRun, TENANT } from '../desk/run-record.js';
import type { Session } from '../session.js';
import { lostWords } from './show.js';
import type { RunRow } from '../../store/runs.js';

const EVENTS_MAX = 100_000;
const DECIDER_WIDTH = 26;
const WORDS_CHARS_MAX = 600;

export function addExplain(program: Command, cli: Cli): void {
  const command = program
    .command('explain')
    .description('Say which rule decided what in a run, and what to do next.')
    .argument('<run>', 'run id');
  withJson(withPlace(command), '{runId, decisions, stopReason, detail, trouble, nextSafeAction}')
    .addHelpText('after', examples('holdfast explain run_01J…'))
    .action((runId: string, options: CommonOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { run, known, decisions } = await recordOf(session, runId);
        const { result } = run;
        const standing = result === undefined ? await standingOf(session, runId) : undefined;
        const trouble = standing?.trouble ?? null;
        const next = result === undefined ? waiting(runId, standing) : nextActionOf(result, known);
        output.data({
          runId,
          decisions,
          stopReason: result?.stopReason ?? null,
          detail: result?.detail ?? null,
          trouble,
          nextSafeAction: next,
        });
        if (output.json) return;
        for (const decision of decisions) {
          const place = `${String(decision.seq).padStart(4)} ${deciderOf(decision).padEnd(DECIDER_WIDTH)}`;
          output.line(`${output.paint.dim(place)} ${inert(decision.words, WORDS_CHARS_MAX)}`);
        }
        for (const line of rulesFired(decisions)) output.line(line);
        output.line('');
        if (trouble !== null) output.line(output.paint.yellow(inert(trouble, WORDS_CHARS_MAX)));
        output.line(
          `${output.paint.bold('Next')}  ${output.paint.own(inert(next, WORDS_CHARS_MAX))}`,
        );
      }),
    );
}

/** Each rule that fired, in its own words, in the order of their first time. */
function rulesFired(decisions: readonly Explanation[]): readonly string[] {
  const fired = new Map(
    decisions.flatMap(({ rule, says }) =>
      rule === undefined || says === undefined ? [] : [[rule, says] as const],
    ),
  );
  if (fired.size === 0) return [];
  return ['', 'Rules that fired:', ...[...fired].map(([rule, says]) => `  ${rule}. ${says}`)];
}

/** The rule, and the station or gate within it where that has another name. */
function deciderOf({ rule, decider }: Explanation): string {
  return rule === undefined || rule === decider ? decider : `${rule} › ${decider}`;
}

interface Standing {
  readonly trouble: string | null;
  /** Temporal has its end, and the store has not. */
  readonly isClosed?: boolean;
}

function waiting(
  runId: string,
  { trouble, isClosed = false }: Standing = { trouble: null },
): string {
  const id = shellWord(runId);
  if (isClosed)
    return `The run has ended, and the store has nothing of its end. \`holdfast show ${id}\` says what Temporal knows.`;
  return trouble === null
    ? `The run is under way. \`holdfast show ${id}\` has the questions that it asks.`
    : `Temporal tries it again by itself. Look at the logs of the workers, or stop the run with \`holdfast interrupt ${id}\`.`;
}

/** Work whose workers die tells the run nothing, so no event names it. `trouble` null: there is none, or no server answers. */
export async function standingOf(
  session: Pick<Session, 'tryClient'>,
  runId: string,
): Promise<Standing> {
  const client = await session.tryClient().catch(() => undefined);
  const execution = await client
    ?.forTenant(TENANT)
    .handle(runId)
    .execution()
    .catch(() => undefined);
  if (execution === undefined) return { trouble: null };
  return { trouble: lostWords(execution), isClosed: execution.closed };
}

interface Record {
  readonly run: RunRow;
  readonly known: EndedRun;
  readonly decisions: readonly Explanation[];
}

async function recordOf(session: Session, runId: string): Promise<Record> {
  const store = await session.store();
  if (store === undefined) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to read the run from.', {
      hint: 'Name the store of the workers with --store or HOLDFAST_STORE.',
    });
  }
  const run = await store.getRun(TENANT, runId);
  if (run === undefined) throw noSuchRun(runId);
  const events = await lastEvents(
    store,
    { tenant: TENANT, runId },
    { since: 0, count: EVENTS_MAX },
  );
  const known = events.reduce(knownAfter, knownOf(run));
  return { run, known, decisions: explainRun(events) };
}
