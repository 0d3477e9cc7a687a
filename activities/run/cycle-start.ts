/**
 * The start of a run that is the child of a goal or of another run, or has its task from one, out of the store.
 * Invariants: a run opens as a child only under its own id, as its row has it and while that is open; a run that has the
 * id of a child and does not say so is refused; its task and its context are those of the row.
 */
import type { RunRef } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { StoredText } from '../../core/json/json.js';
import type { ParentRef, StartInput } from '../../core/state/task.js';
import {
  contextMessages,
  isChildId,
  isStartOf,
  type ChildStart,
} from '../../pure/goal/child-start.js';
import type { HandedStart } from '../../pure/handed-start.js';
import type { SubAgentStart } from '../../pure/sub-agent-start.js';
import type { StoreCalls } from '../../store/store.js';
import type { OpeningStart } from './bounds.js';

export interface CycleStart {
  readonly start: OpeningStart;
  /** Said to the model behind its task, as data. */
  readonly context?: readonly StoredText[];
  readonly agentVersion?: string;
}

type Calls = Pick<StoreCalls, 'childRow' | 'putBlob'>;

/** Errors: InvalidTask with the detail `child_id_taken`. */
export async function cycleStart(
  store: Calls,
  { tenant, runId }: RunRef,
  start: StartInput,
): Promise<CycleStart> {
  const { parent } = start;
  if (parent === undefined) {
    if (isChildId(runId) && (await store.childRow(tenant, runId)) !== undefined)
      throw taken(runId, 'it is that of a cycle of a goal or of a sub-agent');
    return { start };
  }
  const { child, digest } = await registered(store, { tenant, runId }, parent);
  if (!isStartOf(child, start))
    throw taken(runId, `its ${parent.kind} has registered another start`);
  if ('words' in child) {
    const { task, words, handedFrom } = child;
    return { start: { ...start, task, handedFrom }, context: [words] };
  }
  if ('bounds' in child) {
    const { task, bounds, agentVersion, role } = child;
    const given = { ...start, task, bounds, ...(role !== undefined && { role }) };
    return { start: given, agentVersion };
  }
  return {
    start: { ...start, task: child.task },
    context: await storedContext(store, tenant, { child, digest }),
    ...(child.agentVersion !== undefined && { agentVersion: child.agentVersion }),
  };
}

type Key = Pick<RunRef, 'tenant' | 'runId'>;

async function registered(store: Pick<Calls, 'childRow'>, key: Key, parent: ParentRef) {
  const { tenant, runId } = key;
  const row = await store.childRow(tenant, runId);
  const isOwn = row?.parent === parent.id && row.n === parent.n && row.digest === parent.digest;
  if (row === undefined || !isOwn)
    throw taken(runId, `its ${parent.kind} has registered no such child`);
  if (row.state === 'sealed') throw taken(runId, 'its part has ended');
  const child = JSON.parse(row.start) as ChildStart | SubAgentStart | HandedStart;
  return { child, digest: row.digest };
}

/** What the parent of a sub-agent left it with; undefined: the run is none. */
export async function boundsOf(
  store: Pick<Calls, 'childRow'>,
  key: Key,
  parent: ParentRef | undefined,
): Promise<OpeningStart['bounds']> {
  if (parent === undefined) return undefined;
  const { child } = await registered(store, key, parent);
  return 'bounds' in child ? child.bounds : undefined;
}

/** By reference: together they may be larger than a payload. */
function storedContext(
  store: Calls,
  tenant: string,
  { child, digest }: { readonly child: ChildStart; readonly digest: string },
): Promise<readonly StoredText[]> {
  return Promise.all(
    contextMessages(child.context, digest).map(async (text) => ({
      ...(await store.putBlob(tenant, text)),
      preview: text.slice(0, PREVIEW_CHARS),
    })),
  );
}

const PREVIEW_CHARS = 60;

function taken(runId: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The run id ${runId} cannot be used: ${why}.`, {
    hint: 'Runs of this form are started by goals and by other runs alone; use another run id.',
    details: { detail: 'child_id_taken', runId },
  });
}
