/**
 * What an id of evidence stands for: the call, check, effect or answer of a person in this goal's own tree.
 * Invariants: an id is looked up under this tenant and goal alone, whoever names it; a run counts only if the goal has
 * registered it as a cycle, or a run that counts as its sub-agent; what a goal tool said, what failed and what the runtime made up is no evidence.
 */
import type { Config } from '../../authoring/index.js';
import type { Json, StoredText } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import {
  countsAsEvidence,
  parseEvidence,
  placeBelowCycle,
  runOfCall,
  type EvidenceId,
} from '../../pure/goal/evidence.js';
import { isOfGoal } from '../../store/of-goal.js';
import { rowsBelow } from '../../store/rows-below.js';
import type { StoreCalls } from '../../store/store.js';
import { eventsOf } from './run-events.js';

/** 'other': a call that neither read nor changed anything outside, or whose code is not known any more. */
export type EvidenceKind = 'read' | 'check' | 'ask' | 'effect' | 'other';

export interface FoundEvidence {
  readonly id: string;
  readonly kind: EvidenceKind;
  /** Something outside the worker says so: a judgement may rest on it. */
  readonly proves: boolean;
  /** Of a check its name; of a person's answer the question's tool or kind. */
  readonly tool: string;
  readonly content: StoredText;
  /** What the worker put in. */
  readonly args?: Json;
}

export interface EvidenceReader {
  /** Undefined: there is no such evidence. */
  find(id: string): Promise<FoundEvidence | undefined>;
  /** Arguments of all calls of a cycle and of the sub-agents below it: what the workers themselves put into the world. */
  argumentsOf(cycle: number): Promise<readonly Json[]>;
  /** Ids of what the sub-agents below a cycle of this goal called, newest first; some stand for no evidence. */
  idsBelow(cycle: number): Promise<readonly string[]>;
}

export interface EvidencePlace {
  readonly tenant: string;
  /** Run id of the goal. */
  readonly goal: string;
  readonly memory: Pick<GoalMemory, 'ancestors' | 'checkResults'>;
}

type Sources = { readonly store: StoreCalls; readonly config: Pick<Config, 'tools'> };

/** Sub-agents of one cycle whose calls are read. */
const BELOW_MAX = { depth: 6, count: 50 };

/** For one piece of work: it remembers what it has read. */
export function evidenceReader(sources: Sources, place: EvidencePlace): EvidenceReader {
  const own = readerOf(sources, place);
  const others = new Map<string, OwnReader>();
  return {
    argumentsOf: (cycle) => own.argumentsOf(cycle),
    idsBelow: (cycle) => own.idsBelow(cycle),
    async find(id) {
      const parsed = id.includes('\0') ? undefined : parseEvidence(id);
      if (parsed === undefined) return undefined;
      const { goal = place.goal } = parsed;
      if (goal === place.goal) return own.find(parsed.id, id);
      const { ancestors } = place.memory;
      if (!ancestors.includes(goal)) return undefined;
      const reader =
        others.get(goal) ?? readerOf(sources, { ...place, goal, memory: { ancestors } });
      others.set(goal, reader);
      return reader.find(parsed.id, id);
    },
  };
}

interface OwnReader extends Omit<EvidenceReader, 'find'> {
  find(parsed: EvidenceId, id: string): Promise<FoundEvidence | undefined>;
}

function readerOf(sources: Sources, place: EvidencePlace): OwnReader {
  const runs = new Map<string, Promise<CycleCalls>>();
  const callsOf = (runId: string): Promise<CycleCalls> => {
    const known = runs.get(runId) ?? readCalls(sources, place, runId);
    runs.set(runId, known);
    return known;
  };
  let checks: Promise<ReadonlyMap<string, StoredText>> | undefined;
  const checkOf = async (name: string, n: number): Promise<StoredText | undefined> => {
    checks ??= readChecks(sources, place);
    return (await checks).get(`check/${name}/${n}`);
  };
  /** Parents before their children. */
  const runsBelow = async (cycle: string): Promise<readonly string[]> => {
    const { rows } = await rowsBelow(sources.store, { ...place, runId: cycle }, BELOW_MAX);
    return rows.map(({ child }) => child);
  };
  return {
    async argumentsOf(n) {
      const cycle = runOfCall(place.goal, { cycle: n });
      const all = await Promise.all([cycle, ...(await runsBelow(cycle))].map(callsOf));
      return all.flatMap(({ args }) => [...args.values()]);
    },
    async idsBelow(n) {
      const ids: string[] = [];
      for (const runId of await runsBelow(runOfCall(place.goal, { cycle: n }))) {
        const { prefix } = placeBelowCycle(runId) ?? {};
        if (prefix === undefined) continue;
        const { finished } = await callsOf(runId);
        ids.push(...[...finished.keys()].map((callId) => `${prefix}${callId}`));
      }
      return ids.reverse();
    },
    async find(parsed, id) {
      switch (parsed.kind) {
        case 'call': {
          const calls = await callsOf(runOfCall(place.goal, parsed));
          return findCall(sources, place, { id, calls, callId: parsed.call });
        }
        case 'check': {
          const { name, n } = parsed;
          const content = remembered(place, `check/${name}/${n}`) ?? (await checkOf(name, n));
          return content && { id, kind: 'check', proves: true, tool: name, content };
        }
        case 'effect':
          return findEffect(sources, place, { id, key: parsed.key });
        case 'ask':
          return findAnswer(sources, place, { id, askId: parsed.id });
      }
    },
  };
}

type Finished = Extract<RunEvent, { type: 'tool_finished' }>;

interface CycleCalls {
  /** By call id. */
  readonly finished: ReadonlyMap<string, Finished>;
  readonly args: ReadonlyMap<string, Json>;
}

const NO_CALLS: CycleCalls = { finished: new Map(), args: new Map() };

async function readCalls({ store }: Sources, { tenant, goal }: EvidencePlace, runId: string) {
  if (!(await isOfGoal(store, { tenant, goal }, runId))) return NO_CALLS;
  const finished = new Map<string, Finished>();
  const args = new Map<string, Json>();
  for await (const event of eventsOf(store, tenant, runId)) {
    if (event.type === 'tool_started') args.set(event.callId, event.args);
    if (countsAsEvidence(event)) finished.set(event.callId, event);
  }
  return { finished, args };
}

interface Wanted {
  readonly id: string;
  readonly calls: CycleCalls;
  readonly callId: string;
}

async function findCall(
  { store, config }: Sources,
  { tenant }: EvidencePlace,
  { id, calls, callId }: Wanted,
): Promise<FoundEvidence | undefined> {
  const event = calls.finished.get(callId);
  if (event === undefined) return undefined;
  const { tool, content, key } = event;
  const args = calls.args.get(callId);
  const facts = { id, tool, content, ...(args !== undefined && { args }) };
  const records = [...config.tools.values()].map(({ record }) => record);
  const known = records.filter(({ name }) => name === tool);
  if (known.some(({ kind }) => kind === 'subagent' || kind === 'handoff' || kind === 'hosted')) {
    return undefined;
  }
  const row = await store.getLedgerRow(tenant, key);
  if (row?.runId === event.stamp.runId) {
    return {
      ...facts,
      kind: 'effect',
      proves: row.state === 'recorded' && row.source !== 'person',
    };
  }
  if (known.some(({ kind }) => kind === 'human_input'))
    return { ...facts, kind: 'ask', proves: true };
  const isRead = known.length > 0 && known.every(({ effect }) => effect === 'read');
  return { ...facts, kind: isRead ? 'read' : 'other', proves: isRead };
}

/** The memory may know of a result whose event is not in the store yet. */
function remembered({ memory }: EvidencePlace, id: string): StoredText | undefined {
  const result = memory.checkResults?.find((one) => one.id === id);
  return result && { $blob: result.digest, bytes: 0, preview: '' };
}

/** Results that are known, by their ids. */
async function readChecks(
  { store }: Sources,
  { tenant, goal }: EvidencePlace,
): Promise<ReadonlyMap<string, StoredText>> {
  const found = new Map<string, StoredText>();
  for await (const event of eventsOf(store, tenant, goal)) {
    if (event.type !== 'check_finished' || !event.known) continue;
    const { name, n, digest, value } = event;
    found.set(
      `check/${name}/${n}`,
      digest === undefined
        ? { text: JSON.stringify(value ?? null) }
        : { $blob: digest, bytes: 0, preview: '' },
    );
  }
  return found;
}

async function findEffect(
  { store }: Sources,
  place: EvidencePlace,
  { id, key }: { readonly id: string; readonly key: string },
): Promise<FoundEvidence | undefined> {
  const row = await store.getLedgerRow(place.tenant, key);
  if (row?.state !== 'recorded' || row.result === undefined) return undefined;
  if (!(await isOfGoal(store, place, row.runId))) return undefined;
  const { malformed: _, failed: __, ...content } = row.result;
  return { id, kind: 'effect', proves: row.source !== 'person', tool: row.tool, content };
}

/** Nobody said anything in these. */
const UNANSWERED: readonly string[] = ['pending', 'expired', 'withdrawn'];

async function findAnswer(
  { store }: Sources,
  place: EvidencePlace,
  { id, askId }: { readonly id: string; readonly askId: string },
): Promise<FoundEvidence | undefined> {
  const ask = await store.getAsk(place.tenant, askId);
  if (ask === undefined || UNANSWERED.includes(ask.outcome)) return undefined;
  if (ask.runId !== place.goal && !(await isOfGoal(store, place, ask.runId))) return undefined;
  const { question = '', outcome, by, reason, tool, kind } = ask;
  const text = JSON.stringify({ question, outcome, by, ...(reason !== undefined && { reason }) });
  return { id, kind: 'ask', proves: true, tool: tool ?? kind, content: { text } };
}
