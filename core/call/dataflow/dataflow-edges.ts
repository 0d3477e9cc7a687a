/**
 * Which calls of a reply wait for which in dataflow: those whose results they need, and those that go first
 * for the same path of the state (G1, G2).
 * Invariants: of calls for one path only one runs at a time, in proposal order among those that can; a
 * question to a person holds no path (G85); a circle is refused before anything runs, and edges only go
 * away afterwards, so nothing waits for ever (G3).
 */
import type { OpenRun, Turn } from '../../state/run.js';
import { isOver } from '../result.js';
import type { Call } from '../../state/call.js';
import { placeOf } from '../../dataflow/references.js';
import { covers, overlaps } from '../../dataflow/state-path.js';
import { writtenState } from '../../dataflow/state.js';

/** For each call the indices of the calls that must be settled before it goes on. */
export function dataflowEdges(run: OpenRun, turn: Turn): readonly (readonly number[])[] {
  const awaited = turn.calls.map((call) => awaitedBy(run, turn, call));
  const isFree = (call: Call) =>
    (awaited[call.index] ?? []).every((index) => {
      const before = turn.calls[index];
      return before !== undefined && isOver(run, before);
    });
  return turn.calls.map((call) => {
    const first = rivalsOf(turn, call).filter(
      (rival) => holdsPath(rival) || (rival.index < call.index && isNext(rival, isFree(rival))),
    );
    return [...(awaited[call.index] ?? []), ...first.map(({ index }) => index)];
  });
}

/** Calls whose results this one needs. */
function awaitedBy(run: OpenRun, turn: Turn, call: Call): readonly number[] {
  const { flow } = call;
  // It is refused as it stands.
  if (flow === undefined || (call.stage === 'proposed' && !call.check.ok)) return [];
  const named = turn.calls.filter(({ id }) => flow.dependsOn?.includes(id));
  const providers = pathsNeeded(call)
    .filter((path) => placeOf(writtenState(run), path) === undefined)
    .flatMap((path) => providersOf(turn, call, path));
  return [...named, ...providers].map(({ index }) => index);
}

function pathsNeeded({ flow }: Call): readonly string[] {
  if (flow === undefined) return [];
  const { when, outputPath, refs } = flow;
  if (when === undefined) return refs;
  // "Unless it is written" about its own path says what holds for every path anyway.
  const implied =
    when.exists === false && outputPath !== undefined && overlaps(outputPath, when.path);
  return implied ? refs : [...refs, when.path];
}

/** Calls of the turn that may write what `path` names; the call itself only when nobody else does. */
export function providersOf(turn: Turn, call: Call, path: string): readonly Call[] {
  const all = turn.calls.filter(
    ({ flow }) => flow?.outputPath !== undefined && covers(flow.outputPath, path),
  );
  const others = all.filter(({ index }) => index !== call.index);
  return others.length > 0 ? others : all;
}

/** Other calls for the same path, or for one above or below it. */
export function rivalsOf(turn: Turn, call: Call): readonly Call[] {
  const path = call.flow?.outputPath;
  if (path === undefined) return [];
  return turn.calls.filter(
    ({ index, flow }) =>
      index !== call.index && flow?.outputPath !== undefined && overlaps(flow.outputPath, path),
  );
}

function holdsPath({ stage }: Call): boolean {
  return ['executing', 'delegated', 'returned', 'doubt'].includes(stage);
}

/** It could go on now, so that no later call for the same path may overtake it. */
function isNext(call: Call, free: boolean): boolean {
  return free && call.stage !== 'settled' && !waitsForPerson(call);
}

/** A correction is checked while its question is open. */
function waitsForPerson(call: Call): boolean {
  const { stage } = call;
  if (stage === 'checking' || stage === 'rechecked') return call.asker.kind === 'correction';
  return stage === 'waiting' || stage === 'asking';
}

/** Calls that wait for themselves, directly or through others, are refused (G3). */
export function refuseCircles(run: OpenRun, turn: Turn): Turn {
  const awaited = turn.calls.map((call) => awaitedBy(run, turn, call));
  const calls = turn.calls.map((call): Call => {
    if (call.stage !== 'proposed' || !reaches(awaited, call.index)) return call;
    const message = 'This call waits for itself, directly or through other calls of this reply.';
    return { ...call, check: { ok: false, code: 'invalid_arguments', message } };
  });
  return { ...turn, calls };
}

/** True when following the edges from a call leads back to it. */
function reaches(edges: readonly (readonly number[])[], from: number): boolean {
  const seen = new Set<number>();
  const open = [...(edges[from] ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === from) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(edges[next] ?? []));
  }
  return false;
}
