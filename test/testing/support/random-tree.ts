/**
 * Random trees of sub-agents in the simulation: the seed draws limits, budgets, what each run does, children that are
 * lost, workers that die and a cancel. `broken` says in words what did not hold, at any step and at the end.
 */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, type Agent } from '../../../authoring/index.js';
import { NO_USAGE, type Usage } from '../../../core/state/model.js';
import type { Block } from '../../../core/state/transcript.js';
import type { ModelReply, Provider } from '../../../providers/provider.js';
import type { MemoryStore } from '../../../store/store.js';
import { drawBelow, seededRandom, type Random } from '../../../testing/index.js';
import {
  SIMULATION_START,
  startSimulation,
  virtualClock,
  type Simulation,
} from '../../../testing/simulation/index.js';
import type { Run } from '../../../core/state/run.js';
import type { VirtualClock } from '../../../testing/simulation/clock.js';
import { ROOT, TreeWatch, type Plan, type PlayedTree } from './tree-watch.js';

const TENANT = 'default';
const DEEPEST = 4;
const DELAY_MS_MAX = 20_000;

function planOf(random: Random): Plan {
  const below = (limit: number): number => drawBelow(random, limit);
  return {
    limits: { depth: 1 + below(3), atOnce: 1 + below(4), inAll: 1 + below(12) },
    maxCostMicroUsd: 20_000 + below(400_000),
    toolExecution: below(3) === 0 ? 'serial' : 'batched',
    kills: below(2) === 0 ? [] : Array.from({ length: 1 + below(3) }, () => below(120_000)),
    cancelAfterMs: below(5) === 0 ? below(90_000) : undefined,
    lostPercent: below(3) === 0 ? 40 : 0,
    asks: below(2) === 0,
  };
}

const read = defineTool({
  name: 'read',
  version: '1',
  effect: 'read',
  input: z.object({ fails: z.boolean() }),
  run: ({ fails }) => {
    if (fails) throw new Error('It cannot be read.');
    return 'read';
  },
});

/** An agent whose sub-agents have sub-agents, one generation more than any limit allows. */
function agentAt(level: number, plan: Plan, random: Random): Agent {
  const below = level < DEEPEST ? agentAt(level + 1, plan, random) : undefined;
  const named = { maxCostMicroUsd: 5_000 + drawBelow(random, 60_000) };
  return defineAgent({
    name: `level-${level}`,
    model: 'scripted/m',
    instructions: 'Work.',
    tools: [read],
    settings: {
      toolExecution: plan.toolExecution,
      ...(plan.asks && { onBudget: 'ask', inputTimeoutMs: 600_000 }),
    },
    ...(level === 0 && {
      budget: { maxCostMicroUsd: plan.maxCostMicroUsd },
      agentLimits: plan.limits,
    }),
    ...(below !== undefined && {
      agents: {
        shares: { description: 'Takes its share.', agent: below, parallel: true },
        named: { description: 'Has a price.', agent: below, parallel: true, budget: named },
        short: { description: 'Has one turn.', agent: below, parallel: true, maxTurns: 1 },
      },
    }),
  });
}

const NAMES = ['shares', 'named', 'short', 'nobody'] as const;

interface Asked {
  readonly runId: string;
  readonly turn: number;
}

function blocksOf(random: Random, { runId, turn }: Asked): readonly Block[] {
  const begins = runId === ROOT && turn === 1;
  if (turn > 3 || (!begins && drawBelow(random, 10) < 4)) return [{ type: 'text', text: 'Done.' }];
  return Array.from({ length: 1 + drawBelow(random, 4) }, (_, index): Block => {
    const use = { type: 'tool_use', id: `c${turn}_${index}` } as const;
    const fails = drawBelow(random, 4) === 0;
    if (drawBelow(random, 4) === 0) return { ...use, tool: 'read', args: { fails } };
    const name = NAMES[drawBelow(random, NAMES.length)]!;
    return { ...use, tool: 'agent', args: { name, prompt: `Task ${turn} ${index}.` } };
  });
}

/** A vendor that keeps its own books: `bill` hears of every reply that it made. */
function vendor(random: Random, wait: () => Promise<void>, bill: (usage: Usage) => void): Provider {
  const turns = new Map<string, number>();
  return {
    name: 'anthropic',
    async complete({ model, maxTokens, metadata }): Promise<ModelReply> {
      const runId = metadata?.runId ?? '';
      const turn = (turns.get(runId) ?? 0) + 1;
      turns.set(runId, turn);
      const output = Math.min(maxTokens, 1 + drawBelow(random, 400));
      const usage = { ...NO_USAGE, input: 10 + drawBelow(random, 90), output };
      const blocks = blocksOf(random, { runId, turn });
      await wait();
      bill(usage);
      const stop = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
      return { blocks, raw: [], stop, usage, usageSource: 'reported', model, incompleteCalls: 0 };
    },
  };
}

/** Answers what the root asks: yes with some amount, no, or nothing at all. */
class Person {
  private readonly seen = new Set<string>();

  constructor(
    private readonly random: Random,
    private readonly clock: VirtualClock,
  ) {}

  decisions(run: Run): readonly ((simulation: Simulation) => void)[] {
    const fresh = run.asks.filter(({ id, outcome }) => outcome === 'pending' && !this.seen.has(id));
    return fresh.flatMap(({ id, digest }) => {
      this.seen.add(id);
      const word = drawBelow(this.random, 4);
      const amount = 1 + drawBelow(this.random, 60_000);
      const afterMs = drawBelow(this.random, DELAY_MS_MAX);
      if (word === 0) return [];
      const answer = { v: 1, askId: id, argsHash: digest, by: 'maria', roles: [] } as const;
      const said =
        word === 1 ? ({ decision: 'reject' } as const) : ({ decision: 'approve', amount } as const);
      return [
        (simulation: Simulation) =>
          void this.clock.after(afterMs, () =>
            simulation.send({
              type: 'decision',
              decision: { ...answer, ...said, decidedAt: this.clock.now() },
            }),
          ),
      ];
    });
  }
}

export async function playTree(store: MemoryStore, seed: number): Promise<PlayedTree> {
  const random = seededRandom(seed, 19);
  const plan = planOf(random);
  const clock = virtualClock(SIMULATION_START);
  const books = { billed: 0 };
  const watch = new TreeWatch(plan, () => books.billed);
  const wait = (): Promise<void> =>
    new Promise((resolve) => void clock.after(drawBelow(random, DELAY_MS_MAX), resolve));
  const provider = vendor(random, wait, (usage) => (books.billed += watch.priceOf(usage)));
  const root = agentAt(0, plan, random);
  const person = new Person(random, clock);
  const simulation: Simulation = startSimulation({
    store,
    clock,
    config: defineConfig({ agents: [root] }),
    providers: new Map([[provider.name, provider]]),
    start: { v: 1, agent: root.name, task: { goal: 'Work.', taskId: 'task' } },
    runId: ROOT,
    onStart: (runId) => {
      const isLost = runId !== ROOT && drawBelow(random, 100) < plan.lostPercent;
      if (isLost) clock.after(drawBelow(random, DELAY_MS_MAX), () => watch.lose(runId));
    },
    onStep: (run, effects) => {
      for (const effect of effects) {
        if (effect.kind === 'start_child') watch.begun(effect.child);
        if (effect.kind === 'tell_child' && effect.message === 'money')
          watch.answered(effect.amount);
      }
      if (run.runId === ROOT) for (const decide of person.decisions(run)) decide(simulation);
      watch.step(run);
    },
  });
  watch.attach(simulation);
  for (const ms of plan.kills) clock.after(ms, () => simulation.workers.kill('crash', 1_000));
  if (plan.cancelAfterMs !== undefined) {
    clock.after(plan.cancelAfterMs, () => simulation.send({ type: 'cancel_requested' }));
  }
  const final = await simulation.finish();
  if (final.kind !== 'result') return watch.played(`refused: ${JSON.stringify(final)}`);
  const rows = await store.listTree(TENANT, ROOT);
  watch.end({ costMicroUsd: final.result.costMicroUsd, rows });
  return watch.played(final.result.stopReason);
}
