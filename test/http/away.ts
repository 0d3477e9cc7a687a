/** A chat whose store is away, and which Temporal alone knows of. */
import type { FoundAsk } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { chatOf, runIdOf } from '../../http/chat.js';
import { chatHandler, type ChatHandlerOptions } from '../../http/index.js';
import { checkOptions } from '../../http/options.js';

export const HASH = 'b'.repeat(64);
export const ACTOR = { id: 'ann', roles: ['manager'] };

const unavailable = () => new HoldfastError('StoreUnavailable', 'It is away.', { hint: 'Wait.' });

const failing = (code: 'StoreUnavailable' | 'AskNotFound' | 'RunNotFound'): never => {
  throw new HoldfastError(code, 'It is not there.', { hint: 'None.' });
};

/** A client whose store is away: runs tell their own questions. */
export class Away {
  readonly asked: (readonly [askId: string, runId: string])[] = [];
  readonly decided: object[] = [];
  readonly answered: object[] = [];
  readonly interrupted: string[] = [];
  /** Questions that their runs still hold, by id. */
  readonly asks = new Map<string, Partial<FoundAsk>>();
  running: readonly string[] = [];
  /** Runs that have ended. */
  gone: readonly string[] = [];
  refusal: HoldfastError | undefined;
  storeAway = true;
  /** Its store says nothing, not even that it is away. */
  isSilent = false;
  /** Reads that its store has answered before. */
  answers = 0;

  follow = () => undefined;

  findAsk = async (askId: string, runId?: string) => {
    if (runId === undefined && this.storeAway) return this.away();
    if (runId !== undefined) this.asked.push([askId, runId]);
    const found = this.asks.get(askId);
    if (found === undefined || (runId ?? found.runId) !== found.runId)
      return failing('AskNotFound');
    return found;
  };

  handle = (runId: string) => ({
    decideOn: async (wanted: object) => {
      if (this.refusal !== undefined) throw this.refusal;
      this.decided.push({ runId, ...wanted });
      return { delivered: 'signal', storeAway: true };
    },
    answer: async (askId: string, answer: object, by: object) => {
      if (this.refusal !== undefined) throw this.refusal;
      this.answered.push({ runId, askId, ...answer, ...by });
      return { delivered: 'signal', storeAway: true };
    },
    execution: async () => failing('RunNotFound'),
    interrupt: async () => {
      if (this.gone.includes(runId)) return failing('RunNotFound');
      this.interrupted.push(runId);
    },
  });

  conversations = {
    running: async (below: string) => this.running.filter((runId) => runId.startsWith(below)),
    noted: async () => (this.answers-- > 0 ? [] : this.away()),
    lastSession: async () => (this.answers-- > 0 ? undefined : this.away()),
    isAnswerRead: async () => failing('StoreUnavailable'),
  };

  session = async () => (this.answers-- > 0 ? { openRuns: [] } : this.away());

  private away(): Promise<never> {
    return this.isSilent ? new Promise(() => undefined) : Promise.reject(unavailable());
  }
}

export function chatting() {
  const away = new Away();
  const options: ChatHandlerOptions = {
    client: away as unknown as ChatHandlerOptions['client'],
    agent: 'desk',
    authorize: () => ({ actor: ACTOR }),
    ownDecisions: true,
  };
  const chat = chatOf(checkOptions(options), { actor: ACTOR }, 'c1');
  const runId = runIdOf(chat, 'u1');
  const open = (askId: string, more: object = {}) => {
    const found = { tenant: 'default', runId, outcome: 'pending', storeAway: true };
    const ask = { askId, argsHash: HASH };
    away.asks.set(askId, { ...found, ask, ...more } as Partial<FoundAsk>);
    return askId;
  };
  const handle = chatHandler(options);
  const ask = (method: string, path: string, body?: object) =>
    handle(
      new Request(`http://localhost/api/chat${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const post = (path: string, body?: object) => ask('POST', path, body);
  const answer = (...answers: readonly object[]) =>
    post('', { id: 'c1', answers: answers.map((one) => ({ argsHash: HASH, ...one })) });
  return { away, chat, runId, open, ask, post, answer };
}
