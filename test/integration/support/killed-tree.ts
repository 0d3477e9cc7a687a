/**
 * The story of a tree of depth 2: a root that gives orders to its auditors, each of which lets clerks write notes. The
 * small tree does one after the other; in the large one, of 20 sub-agents, all that may run at once do.
 */
import { finalViolations, transcriptAt, withTexts } from '../../../evaluation/scripted/observe.js';
import type { ScriptedAnswer, Script } from '../../../testing/index.js';
import { HALL, config, TREE_AGENT } from './tree-agents.js';
import {
  ENDED_LIMIT_MS,
  nameless,
  TENANT,
  WORKFLOW_TASK_TIMEOUT,
  type Played,
  type Tale,
  type Telling,
} from './killed-stage.js';
import { call, failedTasks, pay, say, type World } from './world.js';

export interface TreeSize {
  readonly auditors: number;
  /** Of each auditor. */
  readonly clerks: number;
}

export interface TreePlayed extends Played {
  /** The root and all below it, by their run ids, with the root under its common name. */
  readonly members: ReadonlyMap<string, Played>;
  /** Rows of its sub-agents that are open, when the root has ended. */
  readonly open: readonly string[];
}

const AUDITOR = 'auditor';
const CLERK = 'clerk';

const WIRE: Tale['wire'] = {
  runId: /(killed-\d{3})((?::a\d+)*)/,
  activity:
    /prepare_child|close_child|open_run|call_model|execute_tool|reconcile_tool|flush|close_run/,
  decision: /agentRun|sealed|prepare_child|open_run/,
};

/** What clerks do: they write a note, or ask a person for leave to pay. */
type Last = ScriptedAnswer;
const WRITES: Last = call('notes.write', { item: 'order' });
export const ASKS: Last = pay('pay.asked');

/** One after the other. */
export const SMALL: TreeSize = { auditors: 1, clerks: 1 };
/** 20 sub-agents. */
export const LARGE: TreeSize = { auditors: 4, clerks: 4 };

/** `atOnce`: with sub-agents beside one another. */
export function treeTale(size: TreeSize, atOnce: boolean, last: Last = WRITES): Tale {
  return {
    wire: WIRE,
    served: { module: require.resolve('./tree-agents.ts'), config },
    start: (world, telling) =>
      start(world, telling, { size, last, agent: atOnce ? HALL : TREE_AGENT }),
    inside: (_stage, _runId, what) => {
      throw new Error(`no tree is ${what}`);
    },
    people: () => () => Promise.resolve(),
    observed: observedTree,
  };
}

export function idsOf(root: string, { auditors, clerks }: TreeSize): readonly string[] {
  const below = (parent: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${parent}:a${index + 1}`);
  const middle = below(root, auditors);
  return [root, ...middle, ...middle.flatMap((id) => below(id, clerks))];
}

interface Telt {
  readonly size: TreeSize;
  readonly last: Last;
  readonly agent: string;
}

async function start(world: World, telling: Telling, { size, agent, last }: Telt): Promise<void> {
  const { runId, taskQueue } = telling;
  for (const id of idsOf(runId, size))
    world.script(id, storyOf(id.split(':').length - 1, size, last));
  await world.raw.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    args: [{ v: 1, agent, task: { goal: 'Serve the customer.' } }],
  });
}

/** A function of the conversation alone: a question that is asked again gets the same reply. */
function storyOf(generation: number, { auditors, clerks }: TreeSize, last: Last): Script {
  const first: readonly ScriptedAnswer[] = [give(AUDITOR, auditors), give(CLERK, clerks), last];
  return ({ assistantMessages }) =>
    assistantMessages === 0 ? first[generation]! : say(`Done by generation ${generation}.`);
}

function give(name: string, count: number): ScriptedAnswer {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'agent',
    input: { name, prompt: `Look at order ${index + 1}.` },
  }));
  return { calls };
}

async function observedTree(world: World, root: string): Promise<TreePlayed> {
  const { store } = world;
  await world.client.handle(root).result({ timeoutMs: ENDED_LIMIT_MS });
  const rows = await store.listTree(TENANT, root);
  const open = rows.filter(({ state }) => state === 'open').map(({ child }) => child);
  return playedTogether(world, [root, ...rows.map(({ child }) => child)], open);
}

/** What the runs of a tale have done; the first one is that which was started. */
export async function playedTogether(
  world: World,
  workflows: readonly string[],
  open: readonly string[],
): Promise<TreePlayed> {
  const root = workflows[0]!;
  const seen = await Promise.all(workflows.map((id) => observedRun(world, root, id)));
  const members = new Map(
    seen.map((member, place) => [nameless(workflows[place]!, root), member] as const),
  );
  const all = [...members.values()];
  const [own] = all;
  if (own === undefined) throw new Error(`${root} has no run`);
  return {
    ...own,
    runId: root,
    workflows,
    effects: all.flatMap(({ effects }) => effects).toSorted(),
    askedAgain: all.some(({ askedAgain }) => askedAgain),
    members,
    open,
  };
}

async function observedRun(world: World, root: string, runId: string): Promise<Played> {
  const { store, service } = world;
  const { result, events: stored } = await world.ended(world.client.handle(runId));
  const { head } = (await store.getRun(TENANT, runId)) ?? {};
  const told = await withTexts(store, TENANT, { result, events: stored });
  const transcript = await transcriptAt(store, TENANT, head ?? null);
  const failed = failedTasks(await world.history(runId));
  const bodies = world.requests(runId).map(({ body = '' }) => body);
  const asked = [...new Set(bodies)];
  const seen = nameless(
    {
      observation: {
        ...told,
        transcript,
        violations: [...finalViolations({ ...told, transcript }), ...failed],
        requests: [],
        executions: [],
        effects: {},
        maxInFlight: 1,
        persisted: 0,
        resumedWith: [],
        tookMs: 0,
      },
      effects: [...new Set(service.visits(runId, 'effect').map(({ key }) => key))],
      asked,
      askedAgain: bodies.length > asked.length,
    },
    root,
  );
  return { ...seen, runId, workflows: [runId], attemptedMicroUsd: await attempted(world, runId) };
}

/** Of it and of all below it, as the store has the attempts. */
async function attempted({ store }: World, runId: string): Promise<number> {
  const root = runId.split(':')[0]!;
  const rows = await store.listTree(TENANT, root);
  const below = rows.map(({ child }) => child).filter((id) => id.startsWith(`${runId}:`));
  const costs = [runId, ...below].map((id) => store.attemptedCost(TENANT, id));
  return (await Promise.all(costs)).reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0);
}
