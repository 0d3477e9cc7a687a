/**
 * open_run: the first activity of each segment. Freezes what the run will be.
 * Invariants: the same start and configuration give the same root and the same Frozen; what cannot be
 * opened fails typed and for good.
 */
import { parseSettings } from '../../authoring/check-limits.js';
import type { Tool } from '../../authoring/index.js';
import { runtimeToolOf } from '../tool/code-of.js';
import { needsSandboxQueue } from '../../authoring/tool-queues.js';
import type { OpenRunInput, OpenRunOutput, RunRef } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import { PAYLOAD_BYTES_MAX, type Json, type StoredText } from '../../core/json/json.js';
import { follows, RULES_VERSION } from '../../core/step/changes.js';
import type { Frozen } from '../../core/state/frozen.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';

import { toolKey } from '../../core/state/tool.js';
import type { StoredBlock, TranscriptNode } from '../../core/state/transcript.js';
import { supervisorTerms } from '../supervision/terms.js';
import { writeAuthority } from './authority.js';
import { boundedTools, type OpeningStart, type SubAgentTexts } from './bounds.js';
import { appendEvents } from './append-events.js';
import { textInBlock } from './append-items.js';
import { archiveSegment } from './archive-history.js';
import { now, type InTransaction } from '../deps.js';
import { agentFor, freeze, type Prompt } from './freeze.js';
import { listConnectors } from '../connectors/list-connectors.js';
import { refusalFor } from '../lacking-code.js';
import { promptOf } from './prompt.js';
import { judgeTask } from './judge-task.js';
import { forkOf } from './open-fork.js';
import { seedFolder } from './seed-folder.js';
import { openSession } from './open-session.js';
import type { Scope } from '../scope.js';
import { checkAttachments } from './check-attachments.js';
import { checkTask } from './check-task.js';
import { cycleStart, type CycleStart } from './cycle-start.js';

export async function openRun(
  deps: InTransaction,
  scope: Scope,
  input: OpenRunInput,
): Promise<OpenRunOutput> {
  const { store, rules = RULES_VERSION } = deps;
  const { run } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  const deskKeys = await store.deskKeys(run.tenant);
  const known = deskKeys.length > 0 && { deskKeys };
  if (input.start === undefined) {
    await archiveSegment(deps, scope, input);
    return { rules, ...(await ownStore(deps, input)), ...known, eventsUpTo };
  }
  if (input.start.fork !== undefined) {
    const given = await forkOf(deps, input, input.start.fork);
    const frozen = given.frozen && sandboxed(deps, given.frozen);
    const fork = frozen === undefined ? given : { ...given, frozen };
    const output = {
      rules,
      fork: fork as unknown as Json,
      ...(await ownStore(deps, input)),
      ...known,
      eventsUpTo,
    };
    mustFit(input.start.agent, output);
    const needed = frozen ?? fork.run.frozen;
    if (needed !== undefined) await noteNeeds(deps, run, needed);
    return output;
  }
  const { start, context, agentVersion } = await cycleStart(store, run, input.start);
  checkTask(start.task);
  if (follows({ rules }, 'waitForCode')) awaitAgent(deps, scope, { start, agentVersion });
  const { frozen, connectors } = await freezeAgent(deps, scope, { run, start });
  await checkAttachments(store, run.tenant, { task: start.task, route: frozen.route });
  const goal = await store.putText(run.tenant, start.task.goal);
  const { inRealTime = (copy) => copy() } = deps;
  await inRealTime(() => seedFolder(deps, run, agentFor(deps.config, start).seed));
  const denied = await judgeTask(deps, scope, { run, start });
  const opening = await openSession(store, { run, start }, frozen);
  const output = {
    rules,
    frozen,
    head: opening?.head ?? frozen.prompt.hash,
    goal,
    ...(context !== undefined && { context }),
    ...(denied !== undefined && { denied }),
    ...(connectors !== undefined && { connectors }),
    ...(opening !== undefined && { session: opening.session }),
    ...(await ownStore(deps, input)),
    ...known,
    eventsUpTo,
  };
  mustFit(start.agent, output);
  await noteNeeds(deps, run, frozen);
  return output;
}

/** The agent of a start as the run keeps it; all that is too large for that lies in the store. */
export async function freezeAgent(
  deps: InTransaction,
  scope: Scope,
  { run, start }: { readonly run: RunRef; readonly start: OpeningStart },
): Promise<FrozenAgent> {
  const agent = agentFor(deps.config, start);
  const { tools, report } = await listConnectors(deps, scope, { run, agent });
  const served = boundedTools(agent, tools, start);
  const prompt = await writeRoot(deps, run, { start, served });
  const outputSchema = await storedSchema(deps, run, start);
  const texts = await subAgentTexts(deps, run, start);
  const plain = sandboxed(deps, freeze(deps.config, start, { prompt, ...texts, served }));
  const authority = await writeAuthority(deps.store, { run, start }, plain);
  const supervisor = await supervisorTerms(deps, run, { start, budget: plain.budget });
  const frozen = {
    ...plain,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(authority !== undefined && { authority }),
    ...(supervisor !== undefined && { supervisor }),
    ...(start.handedFrom !== undefined && { handedFrom: start.handedFrom }),
  };
  return { frozen, ...(report !== undefined && { connectors: report }) };
}

/** With what was learned of its connectors. */
type FrozenAgent = Required<Pick<OpenRunOutput, 'frozen'>> & Pick<OpenRunOutput, 'connectors'>;

export function mustFit(agent: string, output: OpenRunOutput): void {
  const bytes = Buffer.byteLength(JSON.stringify(output));
  if (bytes <= PAYLOAD_BYTES_MAX) return;
  throw new HoldfastError(
    'InvalidAgent',
    `Agent ${agent} takes ${bytes} bytes frozen, the limit is ${PAYLOAD_BYTES_MAX}.`,
    { hint: 'Give it fewer tools or policy rules, or shorter roles.' },
  );
}

/** With the queue of calls in a sandbox, where tools need one (G18). */
function sandboxed({ serving, rules = RULES_VERSION }: InTransaction, frozen: Frozen): Frozen {
  const { sandboxQueue } = serving ?? {};
  const needsOne = frozen.tools.some(needsSandboxQueue) && follows({ rules }, 'sandboxQueues');
  return sandboxQueue !== undefined && needsOne ? { ...frozen, sandboxQueue } : frozen;
}

/** A run that knows none is told which store has its records. */
async function ownStore(
  deps: InTransaction,
  { run }: OpenRunInput,
): Promise<Pick<OpenRunOutput, 'store'>> {
  const { rules = RULES_VERSION } = deps;
  if (run.store !== undefined || !follows({ rules }, 'ownStore')) return {};
  return { store: await deps.store.identity(now(deps)) };
}

/** Another worker may have the agent; nobody has frozen yet how long it is waited for. */
export function awaitAgent(
  deps: InTransaction,
  scope: Scope,
  {
    start,
    agentVersion,
  }: Pick<CycleStart, 'start'> & { readonly agentVersion: string | undefined },
): void {
  const { config } = deps;
  const agent = start.role?.of ?? start.agent;
  const version = config.agents.get(agent)?.version;
  if (version !== undefined && (agentVersion ?? version) === version) return;
  const { unservedTimeoutMs } = {
    ...DEFAULT_SETTINGS,
    ...config.defaults.settings,
    ...parseSettings(start.settings, { code: 'InvalidTask', subject: 'The start' }),
  };
  const name = agentVersion === undefined ? agent : `${agent} of version ${agentVersion}`;
  const missing = { part: 'agent', name, unservedMs: unservedTimeoutMs } as const;
  const refusal = refusalFor(deps, scope, missing);
  if (refusal !== undefined) throw refusal;
  if (version === undefined) return;
  throw new HoldfastError('UnknownAgent', `No worker has served the agent ${name}.`, {
    hint: `The goal is pinned to it; this worker has version ${version}.`,
    details: { agent, agentVersion },
  });
}

/** What somebody can be told while no worker has it. Nothing is decided by it. */
export async function noteNeeds(deps: InTransaction, { tenant, runId }: RunRef, frozen: Frozen) {
  const { serving, store } = deps;
  if (serving === undefined) return;
  // Those of the runtime itself every worker of this release has.
  const ours = frozen.tools.filter(
    (tool) =>
      tool.kind !== 'hosted' &&
      tool.mcp === undefined &&
      runtimeToolOf(toolKey(tool)) === undefined,
  );
  const code = {
    agents: [],
    tools: ours.map((tool) => `${toolKey(tool)}#${tool.schemaHash}`),
    hooks: [...new Set(Object.values(frozen.hooks).flat())],
    providers: [],
  };
  await store.putNeeds({ tenant, runId, ...serving, code });
}

async function subAgentTexts(
  { store, config }: InTransaction,
  { tenant }: RunRef,
  start: OpeningStart,
): Promise<SubAgentTexts> {
  const { agents = new Map() } = agentFor(config, start);
  const schemas = new Map<string, StoredText>();
  const roles = new Map<string, StoredText>();
  for (const [name, { outputSchema, started }] of agents) {
    if (outputSchema !== undefined) {
      schemas.set(name, await store.putText(tenant, JSON.stringify(outputSchema)));
    }
    if (started !== undefined) {
      roles.set(name, await store.putText(tenant, JSON.stringify(started)));
    }
  }
  return { schemas, roles };
}

function storedSchema({ store }: InTransaction, run: RunRef, start: OpeningStart) {
  const { outputSchema } = start.task;
  if (outputSchema === undefined) return Promise.resolve(undefined);
  return store.putText(run.tenant, JSON.stringify(outputSchema));
}

async function writeRoot(
  { store, config }: InTransaction,
  { tenant }: RunRef,
  { start, served }: { readonly start: OpeningStart; readonly served: readonly Tool[] },
): Promise<Prompt> {
  const { texts, tools, bytes } = promptOf(config, start, served);
  const blocks: StoredBlock[] = [];
  for (const text of texts) {
    blocks.push({ type: 'text', text: textInBlock(await store.putText(tenant, text)) });
  }
  const root: TranscriptNode = {
    v: 1,
    parent: null,
    role: 'root',
    // Runs of one agent share their root, as far as their answers have the same schema.
    messageId: 'root',
    blocks,
    tools,
  };
  return { hash: await store.putNode(tenant, root), bytes };
}
