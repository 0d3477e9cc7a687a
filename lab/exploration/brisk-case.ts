/**
 * A random case in a form that a real server plays in seconds: what only takes time is shortened, questions
 * that nobody answers expire soon, and what needs virtual time or a worker of its own is left out.
 */
import type { FixtureDocument } from '../../evaluation/format/document.js';

const DELAY_MS_MAX = 200;
const EXPIRY_MS = 1_000;
/** Results that take a tool's whole time limit, or a worker. */
const SLOW_RESULTS = ['hang', 'timeout', 'lost'];
const SLOW_ACTIONS = ['advance', 'killWorker', 'restartWorker'];
/** Events at which a server lets nobody in. */
const NEVER_REACHED = ['permission', 'transition', 'stop'];
/** The same, and those at which it does only while its worker is held. */
const UNREACHED = [...NEVER_REACHED, 'model_response', 'tool_finished', 'hook'];

type Loose = Readonly<Record<string, unknown>>;

export function briskCase(document: FixtureDocument): FixtureDocument {
  return brisk(document, isBrisk);
}

/** The same with what a server lets in only while its worker is held: signals that meet the end of an activity. */
export function heldCase(document: FixtureDocument): FixtureDocument {
  return brisk(document, isHeld);
}

function brisk(document: FixtureDocument, isPlayed: (moment: Loose) => boolean): FixtureDocument {
  const { model, tools, during, settings, ...rest } = document as unknown as Loose;
  return {
    ...rest,
    settings: {
      approvalTimeoutMs: EXPIRY_MS,
      inputTimeoutMs: EXPIRY_MS,
      idleTimeoutMs: EXPIRY_MS,
      ...(settings as Loose | undefined),
    },
    model: (model as readonly Loose[]).map(hurried),
    ...(tools !== undefined && { tools: mapped(tools as Loose, briskTool) }),
    ...(during !== undefined && { during: (during as readonly Loose[]).filter(isPlayed) }),
  } as unknown as FixtureDocument;
}

function briskTool(tool: Loose): Loose {
  const results = (tool['results'] as readonly Loose[])
    .filter((result) => !SLOW_RESULTS.some((form) => form in result))
    .map(hurried);
  return { ...tool, results: results.length === 0 ? [{ ok: 'done' }] : results };
}

function isBrisk(moment: Loose): boolean {
  const { event, start, at } = moment['on'] as Loose;
  if (isSlow(moment)) return false;
  return start === undefined && at !== 'after' && !UNREACHED.includes(event as string);
}

function isHeld(moment: Loose): boolean {
  const { event } = moment['on'] as Loose;
  return !isSlow(moment) && !NEVER_REACHED.includes(event as string);
}

function isSlow({ do: action }: Loose): boolean {
  return SLOW_ACTIONS.some((name) => name in (action as Loose));
}

function hurried(step: Loose): Loose {
  const { delayMs } = step;
  return typeof delayMs === 'number' ? { ...step, delayMs: Math.min(delayMs, DELAY_MS_MAX) } : step;
}

function mapped(record: Loose, change: (value: Loose) => Loose): Loose {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, change(value as Loose)]),
  );
}
