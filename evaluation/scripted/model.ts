/**
 * The scripted model of a case. A reply belongs to one logical call: an attempt that the script lets fail
 * uses its entry up, any other attempt of the same call gets the same reply again. Summaries have a script
 * of their own, and so have the reviewer and the judges of a goal, whose cycles play theirs from the start.
 * Invariant: every request of the loop is recorded.
 */
import type {
  ModelProgress,
  ModelReply,
  ModelRequest,
  Provider,
} from '../../providers/provider.js';
import type { SeenRequest } from '../engine.js';
import type { CaseSupervisor, CaseTool } from '../fixture.js';
import { isHandedRun } from '../run-tree.js';
import {
  replyAt,
  SCRIPT_EXHAUSTED,
  type Script,
  type ScriptedAnswer,
  type ScriptedReply,
} from '../script.js';
import { HostedRuns } from './hosted.js';
import { reachAtEnd, replyOccurrence, type Moments, type Occurrence } from './moments.js';
import {
  arrivedReply,
  emptyReply,
  failureOf,
  textPieces,
  wholeReply,
  type ReplyPlace,
} from './replies.js';
import { seenMessage } from './seen.js';
import type { Summaries } from './summaries.js';
import { supervisorReply } from './supervisor.js';
import { stopsWork, type Stage, type StageWorker } from './stage.js';

const EXHAUSTED: ScriptedAnswer = {
  kind: 'answer',
  escalate: SCRIPT_EXHAUSTED,
  calls: [],
  stopReason: 'end_turn',
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  delayMs: 0,
};

export interface ModelCast {
  readonly stage: Stage;
  readonly moments: Moments;
  readonly summaries: Summaries;
  readonly tools: ReadonlyMap<string, CaseTool>;
  /** A run asked for more replies than its script has. */
  readonly onExhausted?: (runId: string | undefined) => void;
}

/** Answers what a goal asks of its reviewer and its judges. */
export interface ScriptedQuestions {
  reply(request: ModelRequest): ModelReply;
}

/** What the runs of a case play. */
export interface Plays {
  /** By run; `shared` where all requests of the case are of one run. */
  readonly scriptOf: (runId: string, agent: string | undefined) => Script | Promise<Script>;
  readonly shared: boolean;
  /** Who of several agents asks, by the system prompt; undefined: the agent of the case. */
  readonly agentOf?: (system: string | undefined) => string | undefined;
  readonly questions?: ScriptedQuestions;
  readonly supervisor?: CaseSupervisor;
}

export interface ScriptedModel {
  readonly provider: Provider;
  readonly requests: readonly SeenRequest[];
}

export function scriptedModel(name: string, plays: Plays, cast: ModelCast): ScriptedModel {
  const requests: SeenRequest[] = [];
  const doubles = new Map<string, ModelDouble>();
  const hosted = new HostedRuns(cast.tools);

  async function doubleOf(runId: string, system: string | undefined): Promise<ModelDouble> {
    const agent = plays.agentOf?.(system);
    const isOne = plays.shared && !isHandedRun(runId);
    const key = `${isOne ? '' : runId} ${agent ?? ''}`;
    const known = doubles.get(key);
    if (known !== undefined) return known;
    const script = await plays.scriptOf(runId, agent);
    const double = doubles.get(key) ?? new ModelDouble(script, { ...cast, hosted, requests });
    doubles.set(key, double);
    return double;
  }

  return {
    provider: {
      name,
      async complete(request, progress) {
        const { purpose, call, runId = '' } = request.metadata ?? {};
        switch (purpose) {
          case 'compaction':
            return cast.summaries.reply(call ?? 1, request.model);
          case 'supervision':
            return supervisorReply(plays.supervisor, request);
          case 'judge':
          case 'review':
            if (plays.questions === undefined) throw new Error(`nobody plays a ${purpose}`);
            return plays.questions.reply(request);
          default:
            return (await doubleOf(runId, request.system)).complete(request, progress);
        }
      },
    },
    requests,
  };
}

interface DoubleCast extends ModelCast {
  readonly hosted: HostedRuns;
  readonly requests: SeenRequest[];
}

class ModelDouble {
  private position = 0;
  private call = 0;
  private answered = false;

  constructor(
    private readonly script: Script,
    private readonly cast: DoubleCast,
  ) {}

  async complete(request: ModelRequest, progress: ModelProgress): Promise<ModelReply> {
    const { signal } = progress;
    const { metadata } = request;
    const worker = this.cast.stage.worker();
    const number = metadata?.call ?? this.call + 1;
    const place = placeOf(request, this.cast.hosted);
    const asking = metadata === undefined ? {} : { runId: metadata.runId };
    if (number !== this.call) {
      this.begin(number, request);
      await this.reach({ kind: 'modelCall', number, at: 'before', ...asking }, { worker, signal });
    }
    if (signal.aborted) return emptyReply(place);
    const reply = this.next(metadata?.runId);
    if (reply.kind === 'error') {
      await worker.wait(reply.delayMs, signal);
      if (signal.aborted) return emptyReply(place);
      this.position += 1;
      throw failureOf(reply);
    }
    this.answered = true;
    return this.stream(reply, { number, asking, place, worker, ...progress });
  }

  private begin(number: number, request: ModelRequest): void {
    if (this.answered) this.position += 1;
    this.call = number;
    this.answered = false;
    this.cast.requests.push({
      ...(request.metadata !== undefined && { runId: request.metadata.runId }),
      model: request.model,
      maxTokens: request.maxTokens,
      tools: request.toolChoice === 'none' ? [] : request.tools.map((tool) => tool.name),
      system: [request.system, ...(request.dynamic ?? [])].join('\n\n'),
      messages: request.messages.map((message) => seenMessage(message)),
    });
  }

  private next(runId: string | undefined): ScriptedReply {
    const reply = replyAt(this.script, this.position);
    if (reply === undefined) this.cast.onExhausted?.(runId);
    return reply ?? EXHAUSTED;
  }

  private async stream(answer: ScriptedAnswer, asked: ScriptedRequest): Promise<ModelReply> {
    const { number, asking, place, worker, signal } = asked;
    await worker.wait(answer.delayMs, signal);
    if (signal.aborted) return emptyReply(place);
    const [arrived, ...rest] = textPieces(answer);
    if (arrived !== undefined) tell(arrived, asked);
    await this.reach({ kind: 'modelCall', number, at: 'streaming', ...asking }, { worker, signal });
    if (signal.aborted) return arrivedReply(answer, place);
    for (const piece of rest) tell(piece, asked);
    const { moments } = this.cast;
    await reachAtEnd(moments, { kind: 'modelCall', number, at: 'after', ...asking }, worker);
    const id = replyOccurrence(number);
    const calls = answer.calls.filter(({ incomplete }) => !incomplete);
    const replied: Occurrence = { kind: 'event', event: 'model_response', calls, id, ...asking };
    await reachAtEnd(moments, replied, worker);
    return wholeReply(answer, place);
  }

  private async reach(
    occurrence: Occurrence,
    { worker, signal }: Pick<ScriptedRequest, 'worker' | 'signal'>,
  ): Promise<void> {
    const actions = await this.cast.moments.reach(occurrence);
    if (actions.length > 0) await worker.settle(signal, stopsWork(actions));
  }
}

interface ScriptedRequest extends Pick<ModelProgress, 'signal' | 'onDelta'> {
  readonly number: number;
  /** The run that asks. */
  readonly asking: { readonly runId?: string };
  readonly place: ReplyPlace;
  readonly worker: StageWorker;
}

/** To whoever reads along. */
function tell(text: string, { onDelta }: ScriptedRequest): void {
  onDelta?.({ type: 'text', block: 0, text });
}

function placeOf({ model, messages, tools }: ModelRequest, hosted: HostedRuns): ReplyPlace {
  const usedIds = new Set<string>();
  for (const { blocks } of messages) {
    for (const block of blocks) if (block.type === 'tool_use') usedIds.add(block.id);
  }
  return { model, usedIds, runHosted: (call) => hosted.run(call, tools) };
}
