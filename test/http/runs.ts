/** A client of runs that are lists of words, and a chat over it. */
import { chatOf } from '../../http/chat.js';
import { deliveries } from '../../http/deliveries.js';
import { checkOptions, type ChatHandlerOptions } from '../../http/options.js';
import type { SaidMessage } from '../../http/said.js';
import { submit, type Submitting } from '../../http/submit.js';
import { sha256Hex } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';

const gone = (): never => {
  throw new HoldfastError('RunNotFound', 'There is no such run.', { hint: 'None.' });
};

interface Heard {
  readonly runId: string;
  readonly seq: number;
  readonly messageId: string;
  readonly name: string;
  readonly text: string;
}

type Start = {
  readonly runId: string;
  readonly sessionId?: string;
  readonly resume?: string;
  readonly fork?: { readonly at: string };
  readonly task: { readonly goal: string };
};

/** A client of runs that are lists of words. */
export class Runs {
  readonly starts: Start[] = [];
  readonly heard: Heard[] = [];
  readonly open = new Set<string>();
  readonly closed = new Set<string>();
  readonly interrupted: string[] = [];
  /** Conversations, by session. */
  readonly spoken = new Map<string, object[]>();
  /** How runs were read. */
  readonly followed: object[] = [];
  /** Of a run that is told whole. */
  moments: object[] = [];
  unprocessed: readonly string[] = [];
  startFails = false;
  closesBeforeWords = false;
  /** The run hears what it is told and ends at once. */
  closesWithWords = false;
  /** Runs that end without having stored their conversation. */
  readonly brokenOff = new Set<string>();
  /** Runs that no worker has opened. */
  readonly unopened = new Set<string>();
  /** Runs that wait for their user. */
  readonly waiting = new Set<string>();
  /** Calls that nobody knows the outcome of, by run. */
  readonly inDoubt = new Map<string, string>();
  /** What runs heard waits in them. */
  queues = false;
  readonly closings: string[] = [];
  /** By the places that they have asked for. */
  readonly beginners = new Map<string, { readonly name: string; readonly at: number }>();
  readonly marks = new Map<string, string>();
  interruptEnds = true;
  /** Runs that neither the store nor Temporal knows any more. */
  readonly forgotten = new Set<string>();

  get started(): readonly string[] {
    return this.starts.map(({ runId }) => runId);
  }

  get opened(): readonly string[] {
    return this.started.filter((runId) => !this.unopened.has(runId));
  }

  follow = () => undefined;

  followTree = async function* (this: Runs, _: string, options: object) {
    this.followed.push(options);
    for (const moment of this.moments) yield { of: { runId: 'r', depth: 0 }, ...moment };
  }.bind(this);

  session = async (sessionId: string) => ({
    openRuns: this.startFails
      ? []
      : [...this.open].filter((id) => sessionOf(id) === sessionId && !this.unopened.has(id)),
    ...(this.spoken.has(sessionId) && { stored: { runId: 'any' } }),
  });

  transcript = async (sessionId: string) => {
    const messages = this.spoken.get(sessionId);
    if (messages !== undefined) return { messages };
    throw new HoldfastError('SessionNotFound', 'There is no such session.', { hint: 'None.' });
  };

  start = async (start: Start) => {
    const { runId } = start;
    this.starts.push(start);
    await Promise.resolve();
    this.open.add(runId);
    if (this.startFails) this.unopened.add(runId);
    if (this.startFails) throw new HoldfastError('ServerUnavailable', 'Late.', { hint: 'Wait.' });
  };

  message = async (runId: string, text: string, name: string) => {
    if (this.closesBeforeWords) this.end(runId);
    if (!this.open.has(runId)) gone();
    const seq = 10 + this.heard.length;
    if (!this.queues) this.heard.push({ runId, seq, messageId: `${runId}:m${seq}`, name, text });
    if (!this.closesWithWords) return name;
    this.end(runId);
    return gone();
  };

  conversations = {
    named: async (name: string, below = '') =>
      this.heard.filter((one) => one.name === name && one.runId.startsWith(below)),
    heardBy: async (runId: string) => this.heard.filter((one) => one.runId === runId),
    begins: async (place: string, name: string) => {
      const beginner = this.beginners.get(place) ?? { name, at: Date.now() };
      this.beginners.set(place, beginner);
      return beginner;
    },
    noted: async (below: string, wanted: 'all' | 'unsettled' | { readonly takenBy: string }) =>
      [...this.beginners]
        .map(([key, { name, at }]) => ({
          key,
          digest: name,
          at,
          body: this.marks.get(key) ?? null,
        }))
        .filter(({ key, body }) => {
          if (!key.startsWith(below)) return false;
          if (typeof wanted === 'object') return body?.replace('=', '') === wanted.takenBy;
          return wanted === 'all' || body?.startsWith('=') !== true;
        }),
    mark: async (
      { key, body }: { readonly key: string; readonly body: string | null },
      to: string,
    ) => {
      if ((this.marks.get(key) ?? '') !== (body ?? '')) return false;
      this.marks.set(key, to);
      return true;
    },
    awaitsUser: async (runId: string) => this.waiting.has(runId),
    last: async (runId: string, upTo = Infinity) =>
      this.heard.findLast((one) => one.runId === runId && one.seq <= upTo),
    lastSeq: async (runId: string) => (this.opened.includes(runId) ? 4 : -1),
    lastSession: async (prefix: string) =>
      [...this.spoken.keys(), ...this.opened.map(sessionOf)]
        .filter((id) => id.startsWith(prefix))
        .sort()
        .at(-1),
    place: async (_: string, { since, seen }: { since: number; seen?: number }) => ({
      since,
      asks: [],
      ...(seen !== undefined && { after: '7.0' }),
    }),
  };

  handle = (runId: string) => ({
    execution: async () => {
      if (!this.open.has(runId) && !this.closed.has(runId)) gone();
      return { closed: this.closed.has(runId) };
    },
    events: async function* (this: Runs, { since }: { readonly since: number }) {
      if (this.forgotten.has(runId)) gone();
      if (this.unopened.has(runId)) return;
      if (since === 4) {
        if (this.brokenOff.has(runId)) yield { type: 'tool_started' };
        else yield { type: 'run_result' };
        return;
      }
      const heard = this.heard.find((one) => one.runId === runId && one.seq === since);
      const start = this.starts.find((one) => one.runId === runId);
      if (heard !== undefined) yield { type: 'user_message', text: { text: heard.text } };
      else yield { type: 'session_init', goal: this.stored(start?.task.goal ?? '') };
      const tool = this.inDoubt.get(runId);
      if (tool !== undefined && this.brokenOff.has(runId)) yield { type: 'tool_started', tool };
      else if (tool !== undefined) yield { type: 'tool_finished', tool, code: 'outcome_unknown' };
    }.bind(this),
    result: async () => ({ unprocessed: this.unprocessed }),
    interrupt: async () => {
      this.interrupted.push(runId);
      if (this.interruptEnds) this.end(runId);
    },
    close: async () => {
      this.closings.push(runId);
      // The first one comes with the interrupt, which pauses the run.
      if (this.closings.filter((one) => one === runId).length > 1) this.end(runId);
    },
  });

  private stored(text: string): object {
    if (text.length <= 4096) return { text };
    return { $blob: sha256Hex(text), bytes: text.length, preview: text.slice(0, 200) };
  }

  end(runId: string): void {
    this.open.delete(runId);
    this.closed.add(runId);
  }
}

function sessionOf(runId: string): string {
  return runId.replace(/\.[0-9a-f]{24}$/, '');
}

export function chatWith(runs: Runs, person = 'ann') {
  const client = runs as unknown as ChatHandlerOptions['client'];
  const options = checkOptions({ client, agent: 'desk', insecure: true });
  const submitting: Submitting = { options, deliveries: deliveries() };
  const chat = chatOf(options, { actor: { id: person } }, 'c1');
  const say = (id: string, text: string, change?: SaidMessage['change'], rest: object = {}) =>
    submit(submitting, chat, { id, text, ...(change && { change }), ...rest });
  return { chat, say, submitting };
}
