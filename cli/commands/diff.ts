/** `holdfast diff`: where two runs decide differently, and why. */
import { open, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { isRecord } from '../../core/json/shape.js';
import type { Observation } from '../../evaluation/engine.js';
import { CASE_AGENT } from '../../evaluation/fixture.js';
import type { RunEvent } from '../../core/state/event.js';
import type { DiffOptions } from '../../recording/diff.js';
import type { AgentNames, HeldRun, TreeSketch } from '../../replay/stream/tree-sketch.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { treeHeard } from '../desk/recorded.js';
import { EXIT } from '../exit-code.js';
import { printDiff } from '../render/diff.js';
import type { Session } from '../session.js';
import { usage } from '../usage.js';

interface DiffCommandOptions extends CommonOptions {
  readonly actions?: boolean;
}

export function addDiff(program: Command, cli: Cli): void {
  const command = program
    .command('diff')
    .description(
      'Compare two recorded runs, with the runs below them: the first step at which they decide differently, why, and both paths from there on. A case is played in the simulation. Exits with 0 where they are equal, with 1 where they differ.',
    )
    .argument('<a>', 'run id, a bundle that `holdfast export` wrote, or a case of `holdfast eval`')
    .argument('<b>', 'the other one')
    .option('--actions', 'compare what was done, not what models and tools said or what it cost');
  withJson(
    withPlace(command),
    '{equal, differsIn, first, decision, why, textDifferences, actionsApart?, a, b, rows, below?: [{run, equal, …}]}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast diff failure.json fixed.json',
        'holdfast diff run_01J… run_02K… --actions --json',
        'holdfast diff failure.json cases/refund.json --actions',
      ),
    )
    .action((a: string, b: string, options: DiffCommandOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { diffOfSketches } = await import('../../replay/stream/tree-sketch.js');
        const how = { actions: options.actions === true };
        const sides: Compared[] = [];
        try {
          for (const subject of [a, b])
            sides.push(await comparedOf(cli, session, { subject, how }));
          const [left, right] = sides.map(({ sketch }, side) => sketch(sides[1 - side]!.agents));
          const diff = await diffOfSketches(left!, right!, how);
          const { secretFree } = await import('../terminal/secret-free.js');
          printDiff(diff, secretFree(output, cli.environment.variables));
          return diff.equal ? EXIT.completed : EXIT.error;
        } finally {
          for (const side of sides) await side.close();
        }
      }),
    );
}

interface Compared {
  readonly agents: AgentNames;
  /** A case plays the agents of the other side, whatever those are called. */
  sketch(others: AgentNames): TreeSketch;
  close(): Promise<void>;
}

interface Wanted {
  readonly subject: string;
  readonly how: DiffOptions;
}

async function comparedOf(cli: Cli, session: Session, { subject, how }: Wanted): Promise<Compared> {
  const played = await caseOf(resolve(cli.environment.folder, subject));
  const { sketchOfEvents, treeSketcher } = await import('../../replay/stream/tree-sketch.js');
  if (played !== undefined) {
    const { placeIn } = await import('../../recording/tree-diff.js');
    const placeOf = ({ runId }: HeldRun): string =>
      runId === played.runId ? '' : placeIn(played.runId, runId);
    const runs = [played, ...played.below];
    return {
      agents: new Map(
        runs.flatMap((run) => {
          const began = run.events.find((event) => event.type === 'session_init');
          return began === undefined ? [] : [[placeOf(run), began.agent] as const];
        }),
      ),
      sketch: (others) => {
        const [root, ...below] = runs.map((run) => inNameOf(run, others.get(placeOf(run))));
        return sketchOfEvents(root!, below, how);
      },
      close: () => Promise.resolve(),
    };
  }
  let sketcher = treeSketcher(how);
  const tree = await treeHeard(cli, { session, subject, alone: false }, () => {
    sketcher = treeSketcher(how);
    return sketcher.hearer;
  });
  return {
    agents: sketcher.agents(tree.head),
    sketch: () => sketcher.tree(tree),
    close: () => tree.close(),
  };
}

/** A case has an agent without a name, and calls a role of an agent by the name of the role. */
function inNameOf({ runId, events }: HeldRun, agent: string | undefined): HeldRun {
  if (agent === undefined) return { runId, events };
  const named = events.map((event) => {
    if (event.type !== 'session_init') return event;
    const isIt = event.agent === CASE_AGENT || agent.endsWith(`/${event.agent}`);
    return isIt ? { ...event, agent } : event;
  });
  return { runId, events: named };
}

interface Played extends HeldRun {
  /** Sub-agents, runs that have the task, and cycles. */
  readonly below: readonly HeldRun[];
}

/** The tree of a goal has the events of its cycles among its own. */
function belowOf(goalId: string, { others = [], goal }: Observation): readonly HeldRun[] {
  const cycles = new Map<string, RunEvent[]>();
  for (const event of goal?.tree ?? []) {
    const { runId } = event.stamp;
    if (runId === goalId) continue;
    const events = cycles.get(runId) ?? [];
    cycles.set(runId, events);
    events.push(event);
  }
  return [...others, ...[...cycles].map(([runId, events]) => ({ runId, events }))];
}

/** As much as is read of a case. */
const CASE_BYTES_MAX = 32 * 1024 * 1024;

/** Undefined: the file is no case, or there is none. */
async function caseOf(file: string): Promise<Played | undefined> {
  if (!(await isCase(file))) return undefined;
  const { readFixture } = await import('../../evaluation/read-fixture.js');
  const { createSimulationEngine } = await import('../../evaluation/simulation/index.js');
  const fixture = await readFixture(file);
  const engine = createSimulationEngine();
  try {
    const run = await engine.run(fixture, { seed: 1 });
    if (run.kind === 'observed') {
      const { events } = run.observed;
      return { runId: fixture.caseId, events, below: belowOf(fixture.caseId, run.observed) };
    }
    throw usage(
      `The case ${fixture.caseId} cannot be played: ${run.kind === 'broken' ? run.message : run.why}.`,
      '`holdfast eval` plays it and says more.',
    );
  } finally {
    await engine.stop();
  }
}

async function isCase(file: string): Promise<boolean> {
  const facts = await stat(file).catch(() => undefined);
  if (facts?.isFile() !== true || facts.size > CASE_BYTES_MAX || file.endsWith('.gz')) return false;
  if (await isBundle(file)) return false;
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isRecord(value) && 'case_id' in value && !('segments' in value);
  } catch {
    // Whoever reads it as a bundle says what is wrong.
    return false;
  }
}

/** As exports begin; a bundle is not read whole to find out that it is no case. */
const BUNDLE_BEGINNINGS = ['{"absent":', '{"blobs":', '{"format":"holdfast-bundle"'];

async function isBundle(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => undefined);
  try {
    const read = await handle?.read(Buffer.alloc(64), 0, 64, 0);
    const text = read?.buffer.toString('utf8') ?? '';
    return BUNDLE_BEGINNINGS.some((beginning) => text.startsWith(beginning));
  } catch {
    return false;
  } finally {
    await handle?.close();
  }
}
