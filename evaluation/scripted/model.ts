/**
 * The scripted model of a case. A reply belongs to one logical call: an attempt that the script lets fail
 * uses its entry up, any other attempt of the same call gets the same reply again. Summaries have a script
 * of their own.
 * Invariant: every request of the loop is recorded.
 */
import type {
  ModelProgress,
  ModelReply,
  ModelRequest,
  Provider,
} from '../../providers/provider.js';
import type { SeenRequest } from '../engine.js';
import type { CaseTool } from '../fixture.js';
import { replyAt, type Script, type ScriptedAnswer, type ScriptedReply } from '../script.js';
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
import { stopsWork, type Stage, type StageWorker } from './stage.js';

const EXHAUSTED: ScriptedAnswer = {
  kind: 'answer',
  escalate: 'script_exhausted',
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
}

export interface ScriptedModel {
  readonly provider: Provider;
  readonly requests: readonly SeenRequest[];
}

export function scriptedModel(name: string, script: Script, cast: ModelCast): ScriptedModel {
  const requests: SeenRequest[] = [];
  const double = new ModelDouble(script, cast, requests);
  return {
    provider: { name, complete: (request, progress) => double.complete(request, progress) },
    requests,
  };
}

class ModelDouble {
  private position = 0;
  private call = 0;
  private answered = false;
  private readonly hosted: HostedRuns;

  constructor(
    private readonly script: Script,
    private readonly cast: ModelCast,
    private readonly requests: SeenRequest[],
  ) {
    this.hosted = new HostedRuns(cast.tools);
  }

  async complete(request: ModelRequest, progress: ModelProgress): Promise<ModelReply> {
    const { signal } = progress;
    const { metadata, model } = request;
    if (metadata?.purpose === 'compaction') {
      return this.cast.summaries.reply(metadata.call, model);
    }
    const worker = this.cast.stage.worker();
    const number = metadata?.call ?? this.call + 1;
    const place = placeOf(request, this.hosted);
    if (number !== this.call) {
      this.begin(number, request);
      await this.reach({ kind: 'modelCall', number, at: 'before' }, { worker, signal });
    }
    if (signal.aborted) return emptyReply(place);
    const reply = this.next();
    if (reply.kind === 'error') {
      await worker.wait(reply.delayMs, signal);
      if (signal.aborted) return emptyReply(place);
      this.position += 1;
      throw failureOf(reply);
    }
    this.answered = true;
    return this.stream(reply, { number, place, worker, ...progress });
  }

  private begin(number: number, request: ModelRequest): void {
    if (this.answered) this.position += 1;
    this.call = number;
    this.answered = false;
    this.requests.push({
      model: request.model,
      maxTokens: request.maxTokens,
      tools: request.toolChoice === 'none' ? [] : request.tools.map((tool) => tool.name),
      system: [request.system, ...(request.dynamic ?? [])].join('\n\n'),
      messages: request.messages.map((message) => seenMessage(message)),
    });
  }

  private next(): ScriptedReply {
    return replyAt(this.script, this.position) ?? EXHAUSTED;
  }

  private async stream(answer: ScriptedAnswer, asked: ScriptedRequest): Promise<ModelReply> {
    const { number, place, worker, signal } = asked;
    await worker.wait(answer.delayMs, signal);
    if (signal.aborted) return emptyReply(place);
    const [arrived, ...rest] = textPieces(answer);
    if (arrived !== undefined) tell(arrived, asked);
    await this.reach({ kind: 'modelCall', number, at: 'streaming' }, { worker, signal });
    if (signal.aborted) return arrivedReply(answer, place);
    for (const piece of rest) tell(piece, asked);
    const { moments } = this.cast;
    await reachAtEnd(moments, { kind: 'modelCall', number, at: 'after' }, worker);
    const id = replyOccurrence(number);
    const calls = answer.calls.filter(({ incomplete }) => !incomplete);
    await reachAtEnd(moments, { kind: 'event', event: 'model_response', calls, id }, worker);
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
