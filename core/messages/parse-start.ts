/**
 * Parses the argument of `agentRun`: shape only. What needs the agent's definition is checked by `open_run`.
 */
import { ownValue } from '../json/json.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../json/json-depth.js';
import { PAYLOAD_VERSION } from '../state/payloads/payload.js';
import { parseAttachments } from './parse-attachments.js';
import { parseModelName, type Parsed } from './parse-message.js';
import { sessionDefect } from './parse-session.js';
import type { StartInput } from '../state/task.js';

const NAME_CHARS_MAX = 200;
const PARENT_ID = /^[A-Za-z0-9._:-]{1,96}$/;
/** A sub-agent may have sub-agents: their ids are longer than those of roots may be. */
const RUN_PARENT_ID = /^[A-Za-z0-9._:-]{1,120}$/;
const STORE_ID = /^[0-9a-f]{32}$/;
/** A whole start, as JSON; large goals go by a tool or a message. */
const START_CHARS_MAX = 400_000;

export function parseStart(raw: unknown): Parsed<StartInput> {
  if (!isRecord(raw)) return fault('the input of a run must be an object {v: 1, agent, task}');
  // Before anything walks it: deep values overflow the stack of whoever serialises them.
  if (depthOf(raw) > SHAPE_DEPTH_MAX)
    return fault(`the input nests deeper than ${SHAPE_DEPTH_MAX} levels`);
  if (JSON.stringify(raw).length > START_CHARS_MAX)
    return fault(`the input is larger than ${START_CHARS_MAX} characters`);
  const undecodable = ownValue(raw, '$undecodable');
  if (typeof undecodable === 'string') return fault(`the input is undecodable: ${undecodable}`);
  const agent = ownValue(raw, 'agent');
  const task = ownValue(raw, 'task');
  if (ownValue(raw, 'v') !== PAYLOAD_VERSION) return fault('the input of a run must have v: 1');
  if (typeof agent !== 'string' || agent === '' || agent.length > NAME_CHARS_MAX)
    return fault('agent must be the name of an agent');
  if (!isRecord(task)) return fault('task must be an object with a goal');
  const goal = ownValue(task, 'goal');
  if (typeof goal !== 'string' || goal.trim() === '')
    return fault('task.goal must say what the run is to achieve');
  const attachments = parseAttachments(ownValue(task, 'attachments'));
  if (!attachments.ok) return fault(`task.${attachments.reason}`);
  const tenant = ownValue(raw, 'tenant');
  if (
    tenant !== undefined &&
    (typeof tenant !== 'string' || !/^[A-Za-z0-9._-]{1,64}$/.test(tenant))
  )
    return fault('tenant must be 1 to 64 of the characters A-Z a-z 0-9 . _ -');
  const store = ownValue(raw, 'store');
  if (store !== undefined && (typeof store !== 'string' || !STORE_ID.test(store)))
    return fault('store must be the id of a store');
  const model = ownValue(raw, 'model');
  if (model !== undefined && !parseModelName(model).ok) return fault('model must name a model');
  const defect = sessionDefect(ownValue(raw, 'session'));
  if (defect !== undefined) return fault(defect);
  if (!isParent(ownValue(raw, 'parent')))
    return fault('parent must be that of a goal or a run: {kind, id, n, digest}');
  if (!isFork(ownValue(raw, 'fork')))
    return fault('fork must name a recorded run: {id, step, digest}');
  const start = raw as unknown as StartInput;
  if (start.task.attachments === undefined) return { ok: true, value: start };
  const { attachments: _, ...plain } = start.task;
  const attached = attachments.value && { attachments: attachments.value };
  return { ok: true, value: { ...start, task: { ...plain, ...attached } } };
}

/** Absent, or as a goal or a run writes it. Whether it is true is for the store to say. */
function isParent(parent: unknown): boolean {
  if (parent === undefined) return true;
  if (!isRecord(parent)) return false;
  const [kind, id, n, digest] = ['kind', 'id', 'n', 'digest'].map((key) => ownValue(parent, key));
  return (
    (kind === 'goal' || kind === 'run' || kind === 'handoff') &&
    typeof id === 'string' &&
    (kind === 'goal' ? PARENT_ID : RUN_PARENT_ID).test(id) &&
    Number.isSafeInteger(n) &&
    Number(n) > 0 &&
    typeof digest === 'string' &&
    digest.length > 0 &&
    digest.length <= NAME_CHARS_MAX
  );
}

/** Absent, or as a client writes it. What it names is for the store to say. */
function isFork(fork: unknown): boolean {
  if (fork === undefined) return true;
  if (!isRecord(fork)) return false;
  const [id, step, digest] = ['id', 'step', 'digest'].map((key) => ownValue(fork, key));
  return (
    typeof id === 'string' &&
    id.length <= NAME_CHARS_MAX &&
    Number.isSafeInteger(step) &&
    typeof digest === 'string' &&
    digest.length <= NAME_CHARS_MAX
  );
}

/** Why a start waits: a newer release made it, and this code does not guess what it means. Undefined: none did. */
export function newerVersion(raw: unknown): string | undefined {
  const version = isRecord(raw) ? ownValue(raw, 'v') : undefined;
  if (!Number.isSafeInteger(version) || Number(version) <= PAYLOAD_VERSION) return undefined;
  return (
    `NotServed: the start of this run has version ${String(version)}, this worker reads version ${PAYLOAD_VERSION}; ` +
    'deploy a newer worker'
  );
}

function isRecord(raw: unknown): raw is { readonly [key: string]: unknown } {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

function fault(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
