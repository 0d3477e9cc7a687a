/** Events of a run and of the sub-agents below it, as a command prints them while they come. */
import type { TreeMoment } from '../../client/index.js';
import type { RunEvent } from '../../core/state/event.js';
import { agentPathText } from '../../pure/agent-path.js';
import type { ShownPlace } from '../../store/tree-place.js';
import { approvalCard, eventLine, inert, isDetail, shellWord } from '../render/index.js';
import type { CommandHints } from '../desk/actor.js';
import type { Output } from './output.js';
import { speakers } from './speakers.js';
import { tokenPrinter } from './token-printer.js';

type AskEvent = Extract<RunEvent, { type: 'approval_requested' | 'input_request' }>;

/** Whether a question waits for somebody now. */
export type Askable = (event: AskEvent) => boolean;

/** How the commands of a card look for whoever reads it here. */
export type CardLooks = Omit<CommandHints, 'first'>;

export interface EventPrinter {
  /** Prints a card of this moment: it shows commands. */
  asks(moment: TreeMoment): boolean;
  /** The event that was told; undefined: it was none. */
  print(moment: TreeMoment, looks?: CardLooks): RunEvent | undefined;
}

export function eventPrinter(
  output: Output,
  { askable, all }: { readonly askable: Askable; readonly all: boolean },
): EventPrinter {
  const tokens = tokenPrinter(output);
  const speaking = speakers();
  const last = new Map<string, number>();
  const places = subAgentPlaces();

  function hear({ chunk, of }: Extract<TreeMoment, { kind: 'chunk' }>): void {
    const { runId, depth, callId } = of;
    if (output.json) {
      const below = depth > 0 && { runId, parent_tool_use_id: callId };
      output.data({ type: 'stream_event', ...below, ...chunk });
      return;
    }
    if (!speaking.mayBeHeard(chunk, of)) return;
    if (depth > 0 && chunk.kind === 'attempt_started')
      output.line(`${output.paint.cyan(inert(agentPathText(places.pathOf(runId))))} says:`);
    tokens.chunk(chunk);
  }

  function tell(event: RunEvent, callId: string | undefined, looks?: CardLooks): void {
    const { runId, seq } = event.stamp;
    speaking.told(event);
    if (seq <= (last.get(runId) ?? -1)) output.remark(resetRemark(seq));
    last.set(runId, seq);
    const isBelow = callId !== undefined;
    if (isBelow) places.note(event);
    const place = places.get(runId);
    output.data(isBelow ? { ...event, parent_tool_use_id: callId } : event);
    const path = isBelow ? { path: places.pathOf(runId) } : {};
    if (all || !isDetail(event))
      output.line(eventLine(tokens.rest(event), { paint: output.paint, ...path }));
    if (isAsk(event) && askable(event)) output.line(cardOf(event, output, { place, looks }));
  }

  return {
    asks: (moment) => moment.kind === 'event' && isAsk(moment.event) && askable(moment.event),
    print(moment, looks) {
      const { of } = moment;
      if (moment.kind === 'absent') {
        output.remark(
          `Nothing is stored of the sub-agent ${inert(of.runId)}: its record is gone, or lies in another store.`,
        );
        return undefined;
      }
      if (moment.kind === 'chunk') {
        hear(moment);
        return undefined;
      }
      if (moment.kind === 'left_out') {
        const list = `holdfast list --root ${shellWord(of.runId)}`;
        output.remark(`Further sub-agents are not followed here; ${list} names them.`);
        return undefined;
      }
      tell(moment.event, of.callId, looks);
      return moment.event;
    },
  };
}

/** Of sub-agents: the root, and the agents on the way. */
function subAgentPlaces() {
  const places = new Map<string, Required<ShownPlace>>();
  const runs = new Map<string, number>();
  return {
    note(event: RunEvent): void {
      if (event.type !== 'session_init' || event.parent === undefined) return;
      const { root, path: agentPath } = event.parent;
      const path = agentPathText(agentPath);
      if (!places.has(event.stamp.runId)) runs.set(path, (runs.get(path) ?? 0) + 1);
      places.set(event.stamp.runId, { root, agentPath });
    },
    get: (runId: string): Required<ShownPlace> | undefined => places.get(runId),
    /** With the run's id as soon as a second one works under the same names. */
    pathOf(runId: string): readonly string[] {
      const { agentPath } = places.get(runId) ?? {};
      if (agentPath === undefined) return [runId];
      if ((runs.get(agentPathText(agentPath)) ?? 0) < 2) return agentPath;
      return [...agentPath.slice(0, -1), `${agentPath.at(-1) ?? ''} (${runId})`];
    },
  };
}

function isAsk(event: RunEvent): event is AskEvent {
  return event.type === 'approval_requested' || event.type === 'input_request';
}

interface CardAt {
  readonly place: ShownPlace | undefined;
  readonly looks: CardLooks | undefined;
}

function cardOf(event: AskEvent, { paint }: Output, { place, looks }: CardAt): string {
  const { type: _type, stamp, ...ask } = event;
  return approvalCard(
    { ...ask, ...place },
    { runId: stamp.runId, now: Date.now(), paint, ...looks },
  );
}

function resetRemark(seq: number): string {
  return `The run was reset: what was shown from event ${seq} on is superseded.`;
}
