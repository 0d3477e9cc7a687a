/**
 * The way into a run: frozen by `open_run`, greeted by its SessionStart hooks, announced.
 * Invariants: `session_init` is the first event and comes after the SessionStart hooks (C51); no other
 * event, request or stop comes before it.
 */
import { visibleTools } from '../permission/permission.js';
import { contextAtFirst, appendUser, inBytes } from '../step/conversation.js';
import type { OpenRunOutput } from '../state/effect.js';
import { startHooks } from '../hooks/start.js';
import { cancelAll, flying, only } from '../step/inflight.js';
import { previewOf } from '../json/json.js';
import type { Ruling } from '../step/advance.js';
import { emit, releaseWarnings, warn } from '../step/outbox.js';
import { betasOf, routeHash } from '../step/route.js';
import { follows, knownRules } from '../step/changes.js';
import { forkOpened } from './fork.js';
import { opensElsewhere } from './open-within.js';
import { announceNext, handoffMissed, takenOver } from './handoff.js';
import { type Clock, type OpenRun, type Run, type Step, hasHooks, isOpen } from '../state/run.js';
import { beginIn } from '../session/carry.js';
import { stop } from '../step/stop.js';
import type { Arrival } from '../state/arrival.js';
import { supervised } from './supervised.js';

/** `open_run` is back: what it has frozen, and for later segments only that they may begin. */
export function opened(run: Run, output: OpenRunOutput): Run {
  const segment = { ...run.segment, opened: true };
  const { previousExecution: _, deskKeys: __, ...known } = opensElsewhere(run);
  const { frozen, deskKeys, store } = output;
  // Keys come and go while a run waits: each segment is told those of its time.
  const told = { ...known, ...(deskKeys !== undefined && { deskKeys }) };
  // A fork keeps to the rules of the run that it began from.
  const rules = run.forked?.rules ?? knownRules(Math.max(run.rules, output.rules));
  const isFirst = run.store === undefined && store !== undefined && follows({ rules }, 'ownStore');
  const rest = isFirst ? { ...told, store } : told;
  if (output.fork !== undefined) return forkOpened({ ...rest, segment }, output);
  const next = takenOver({ ...rest, rules, segment }, output);
  if (next !== undefined) return warnOfConnectors(withConnectors(next, output), output);
  const missed = handoffMissed({ ...rest, rules, segment });
  if (missed !== undefined) return missed;
  if (frozen === undefined || isOpen(run)) return { ...rest, rules, segment };
  // What a task may be large in is in the store now, and by reference in `frozen` (R1).
  const { outputSchema: ___, ...task } = run.start.task;
  const goal = output.goal ?? { text: task.goal };
  const begun: Run = {
    ...rest,
    rules,
    segment,
    frozen,
    // The whole goal enters the transcript; the run keeps what a person needs to recognise it (R1).
    start: { ...run.start, task: { ...task, goal: previewOf(goal) } },
    clock: clockOf(rest, { rules, workedMs: output.workedMs ?? 0 }),
    phase: 'checking_limits',
    head: output.head ?? frozen.prompt.hash,
    context: contextAtFirst(frozen.prompt.bytes),
    ...supervised({ rules }, frozen),
    arrival: {
      goal,
      context: [],
      ...(output.denied !== undefined && { denied: output.denied }),
      ...(output.context !== undefined && { known: output.context }),
      ...connectorsOf({ rules }, output),
    },
  };
  const warned = warnOfConnectors(begun, output);
  const began = output.session === undefined ? warned : beginIn(warned, output.session);
  return follows(began, 'bytesBound') ? { ...began, context: inBytes(began.context) } : began;
}

function connectorsOf(
  { rules }: Pick<Run, 'rules'>,
  { connectors: report }: OpenRunOutput,
): Pick<Arrival, 'connectors'> {
  if (report === undefined || !follows({ rules }, 'connectorsTold')) return {};
  const { connectors, missing } = report;
  return { connectors: { connectors, ...(missing !== undefined && { missing }) } };
}

/** Of a run that goes on under another agent. */
function withConnectors(run: Run, output: OpenRunOutput): Run {
  const { arrival } = run;
  return arrival === undefined
    ? run
    : { ...run, arrival: { ...arrival, ...connectorsOf(run, output) } };
}

function warnOfConnectors(run: Run, { connectors }: OpenRunOutput): Run {
  if (connectors === undefined || !follows(run, 'connectorsTold')) return run;
  return connectors.warnings.reduce((next, { code, message }) => warn(next, code, message), run);
}

/** Until a run is opened nobody knows by which rules its time counts. */
function clockOf(
  { clock, now }: Run,
  { rules, workedMs }: { readonly rules: number; readonly workedMs: number },
): Clock {
  if (!follows({ rules }, 'workedTime')) return clock;
  const passed = now - clock.startedAt;
  const activeMs = Math.min(workedMs, passed);
  return { startedAt: clock.startedAt, activeMs, waitingMs: passed - activeMs };
}

/** Before everything else in an opened run: its SessionStart hooks, then its announcement. */
export function arriving(run: OpenRun): Ruling<OpenRun> {
  const { arrival } = run;
  if (arrival === undefined) return undefined;
  if (arrival.hooks === 'running') return awaitHooks(run);
  if (arrival.hooks === undefined && hasHooks(run, 'SessionStart') && !run.interrupt) {
    const { task } = run.start;
    const begins = run.session?.resumed === undefined ? 'startup' : 'resume';
    const isHanded = arrival.handedOver !== undefined || run.frozen.handedFrom !== undefined;
    const source = isHanded ? 'handoff' : begins;
    const payload = { source, agent: run.frozen.agent.name, goal: task.goal };
    const started = startHooks(run, { point: 'SessionStart' }, payload);
    return { ...started, run: { ...started.run, arrival: { ...arrival, hooks: 'running' } } };
  }
  return only(announce(run, arrival));
}

/** A person's stop ends the hooks too; they answer all the same. */
function awaitHooks(run: OpenRun): Step<OpenRun> | 'hold' {
  if (run.interrupt === undefined || !flying(run, ['run_hooks'])) return 'hold';
  const cancelled = cancelAll(run, ['run_hooks']);
  return cancelled.effects.length > 0 ? cancelled : 'hold';
}

function announce(run: OpenRun, arrival: Arrival): OpenRun {
  const { arrival: _, ...rest } = run;
  return arrival.handedOver === undefined
    ? announceRun(rest, arrival)
    : withContext(
        announceNext(
          releaseWarnings(rest),
          arrival.handedOver,
          visibleTools(rest).map(({ name }) => name),
        ),
        arrival,
      );
}

/** What is known and what the hooks add, behind the task; then whether anybody may work on it. */
function withContext(run: OpenRun, arrival: Arrival): OpenRun {
  const { known = [], context, denied: refusal, connectors } = arrival;
  const told = [...known, ...context.map((text) => ({ text }))].reduce<OpenRun>(
    (next, text) => appendUser(next, text, { synthetic: true }),
    run,
  );
  const denied = run.start.task.denied ?? refusal;
  if (denied !== undefined)
    return stop(told, 'refused', { detail: 'safety_policy', nextSafeAction: denied });
  const missing = connectors?.missing;
  return missing === undefined
    ? told
    : stop(told, 'tool_unavailable', {
        detail: missing.connector,
        nextSafeAction: missing.message,
      });
}

function announceRun(run: OpenRun, arrival: Arrival): OpenRun {
  const { goal, connectors } = arrival;
  const { task } = run.start;
  const { frozen, session } = run;
  const offered = follows(run, 'offeredTools') ? visibleTools(run) : frozen.tools;
  const tellsRoute = follows(run, 'briefPayloads');
  const telling = tellsRoute ? { ...run, routeTold: routeHash(frozen.route) } : run;
  const announced = emit(telling, {
    type: 'session_init',
    agent: run.start.agent,
    taskId: run.taskId,
    goal,
    ...(task.attachments !== undefined && { attachments: task.attachments }),
    model: frozen.route.name,
    ...betasOf(run),
    tools: offered.map((tool) => tool.name),
    ...(connectors !== undefined && { connectors: connectors.connectors }),
    ...(task.caller !== undefined && { caller: task.caller }),
    ...parentOf(run),
    ...(frozen.handedFrom !== undefined && { handedFrom: frozen.handedFrom }),
    ...(frozen.settings.requireProof && follows(run, 'keysFetched') && { requireProof: true }),
    ...(session !== undefined && { sessionId: session.id }),
    ...(session?.resumed !== undefined && { resumed: session.resumed }),
    versions: frozen.versions,
    ...(follows(run, 'rulesTold') && { rules: run.rules }),
    ...(tellsRoute && { route: frozen.route }),
    ...forkOf(run),
  });
  if (arrival.forked === true) return releaseWarnings(announced);
  const asked = appendUser(releaseWarnings(announced), goal, { attachments: task.attachments });
  const constraints = (task.constraints ?? []).map((line) => `- ${line}`).join('\n');
  const bound =
    constraints === '' ? asked : appendUser(asked, { text: `Constraints:\n${constraints}` });
  return withContext(bound, arrival);
}

function forkOf({ forked }: OpenRun) {
  if (forked === undefined) return {};
  const { runId, step, spentMicroUsd } = forked;
  return { forked: { runId, step, spentMicroUsd } };
}

function parentOf({ start, frozen: { lineage } }: OpenRun) {
  if (lineage === undefined || start.parent === undefined) return {};
  const { root, path, call: callId } = lineage;
  return { parent: { runId: start.parent.id, callId, root, path } };
}
