/** What comes back for an effect, as the script says; once per effect, however often it is asked for. */
import type {
  ActivityEffect,
  ChildEnd,
  CallModelOutput,
  ExecuteToolOutput,
  ToolOutcome,
  GoalActivityKind,
} from '../../core/state/effect.js';
import type { Finding } from '../../core/state/recovery.js';
import { provesOutcome } from '../../activities/tool/check-signatures.js';
import { callDigest, previewOf, type Json, type StoredText } from '../../core/json/json.js';
import {
  holdsIn,
  missingFrom,
  referencesIn,
  resolveReferences,
  valueOf,
} from '../../core/dataflow/references.js';
import { failureOf, type Failure } from '../../core/state/failure.js';
import type { HookOutcome } from '../../core/state/hook.js';
import { endsTheChain } from '../../core/hooks/opinion.js';
import { wholeEvents } from '../../core/step/outbox.js';
import type { EffectInput, Input } from '../../core/state/input.js';
import { NO_USAGE, type Reply } from '../../core/state/model.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { isMutating } from '../../core/state/tool.js';
import type { Shell, Started } from './shell-state.js';
import { checkOf, frozenOf, scriptedRoute, type ToolEntry } from './script.js';
import { appendItems, appendReply, summarised, type Message } from './transcript.js';

export interface Outcome {
  /** Infinity: only when it is cancelled. */
  readonly delayMs: number;
  readonly make: (at: number) => Input;
}

type How = 'ended' | 'cancelled';
/** Time that work takes unless the script says more. */
const WORK_MS = 1;

export function outcomeOf(shell: Shell, given: ActivityEffect, how: How = 'ended'): Outcome {
  // A run starts no work of goals.
  const effect = given as Exclude<ActivityEffect, { kind: GoalActivityKind }>;
  if (effect.kind === 'call_model') return ofModel(shell, effect, how);
  if (effect.kind === 'execute_tool') return ofTool(shell, effect, how);
  if (effect.kind === 'reconcile_tool') return ofReconcile(shell, effect, how);
  if (how === 'cancelled') return failed(effect.id, aborted());
  if (effect.kind === 'run_hooks') return ofHooks(shell, effect);
  if (effect.kind === 'open_run' && shell.script.openNever) {
    return { ...failed(effect.id, aborted()), delayMs: Infinity };
  }
  const eventsUpTo = effect.kind === 'flush' ? flushed(shell, effect) : store(shell, effect);
  if (eventsUpTo === undefined)
    return failed(
      effect.id,
      failureOf({ type: 'StoreUnavailable', message: 'down' }, effect.limits),
    );
  const come = back(effect.id, ofStore(shell, effect, eventsUpTo));
  if (effect.kind !== 'prepare_child') return come;
  const { preparesMs = come.delayMs } = shell.script.children?.[effect.input.n - 1] ?? {};
  return { ...come, delayMs: preparesMs };
}

const CHILD_ENDED: ChildEnd = {
  stopReason: 'completed',
  content: { text: 'done' },
  costMicroUsd: 0,
  usage: NO_USAGE,
  activeMs: 0,
};

type StoreWork = Exclude<
  ActivityEffect,
  { kind: 'call_model' | 'execute_tool' | 'reconcile_tool' | 'run_hooks' | GoalActivityKind }
>;
type Ended = EffectInput extends infer T
  ? T extends unknown
    ? Omit<T, 'at' | 'id'>
    : never
  : never;

function ofStore(shell: Shell, effect: StoreWork, eventsUpTo: number): Ended {
  switch (effect.kind) {
    case 'open_run':
      return ofOpen(shell, effect, eventsUpTo);
    case 'record_outcome':
      return { type: 'outcome_recorded', output: { ...recorded(shell, effect), eventsUpTo } };
    case 'flush':
      return { type: 'flushed', output: { ...messagesOf(shell, effect), eventsUpTo } };
    case 'check_call':
      return { type: 'call_checked', output: { ...checked(shell, effect), eventsUpTo } };
    case 'compact': {
      const entry = shell.script.compactions?.[entryAt(shell, 'compact', effect.id)] ?? {};
      if ('failure' in entry) return { type: 'effect_failed', failure: entry.failure };
      const copy = { messages: [...messagesAt(shell, effect.input.head)] };
      appendItems(copy, effect.input.append);
      const { tokens = 1_000, usage = NO_USAGE, answerKept } = entry;
      const lost = { lostCostMicroUsd: 0, lostUsage: NO_USAGE };
      const head = `${effect.id}:compacted`;
      shell.summaries[head] = summarised(copy, effect.input.messageId);
      return {
        type: 'compacted',
        output: { head, tokens, usage, ...lost, ...(answerKept && { answerKept }), eventsUpTo },
      };
    }
    case 'resolve_model': {
      const { model } = effect.input;
      const route = scriptedRoute(shell.script, model);
      const resolved =
        route === undefined
          ? ({ ok: false, reason: `Model ${model} is not known.` } as const)
          : ({ ok: true, route } as const);
      return { type: 'model_resolved', output: { resolved, eventsUpTo } };
    }
    case 'account_call': {
      const entries = shell.script.accounts ?? [];
      const entry = entries[entryAt(shell, 'account', effect.id)] ?? { costMicroUsd: 0 };
      if ('failure' in entry) return { type: 'effect_failed', failure: entry.failure };
      const { costMicroUsd: lostCostMicroUsd, usage: lostUsage = NO_USAGE } = entry;
      return { type: 'call_accounted', output: { lostCostMicroUsd, lostUsage, eventsUpTo } };
    }
    case 'ask_supervisor': {
      const entry = shell.script.looks?.[effect.input.number - 1] ?? {
        word: { decision: 'go_on', because: 'all is well' },
      };
      if ('failure' in entry) return { type: 'effect_failed', failure: entry.failure };
      const { usage = NO_USAGE, ...said } = entry;
      const lost = { lostCostMicroUsd: 0, lostUsage: NO_USAGE };
      return { type: 'supervisor_answered', output: { ...said, usage, ...lost, eventsUpTo } };
    }
    case 'fetch_keys': {
      const { deskKeys = [], laterDeskKeys = deskKeys } = shell.script;
      return { type: 'keys_fetched', output: { deskKeys: laterDeskKeys, eventsUpTo } };
    }
    case 'read_mail': {
      const { after, limit } = effect.input;
      const waiting = (shell.script.letters ?? []).filter(({ seq }) => seq > after);
      const letters = waiting.slice(0, limit);
      return {
        type: 'mail_read',
        output: { letters, more: letters.length === limit, eventsUpTo },
      };
    }
    case 'prepare_child': {
      const { input } = effect;
      const { children = [] } = shell.script;
      const { refused, begun, notPrepared, returns } = children[input.n - 1] ?? {};
      const { runId: id } = input.run;
      const parent = { kind: 'run', id, n: input.n, digest: 'a digest' } as const;
      const start = {
        v: 1,
        agent: input.agent.agent,
        task: { goal: input.name },
        ...(returns !== undefined && { parent }),
      } as const;
      if (notPrepared !== undefined) {
        return { type: 'effect_failed', failure: { code: 'NotServed', message: notPrepared } };
      }
      return {
        type: 'child_prepared',
        output: {
          ...(refused === undefined ? { start } : { refused }),
          ...(begun && { begun }),
          eventsUpTo,
        },
      };
    }
    case 'prepare_handoff': {
      const { input } = effect;
      const { taken, begun, notPrepared } = shell.script.handed?.[input.n - 1] ?? {};
      if (notPrepared !== undefined) return { type: 'effect_failed', failure: notPrepared };
      const start = { ...input.start, agent: input.handoff.to };
      const found =
        taken === undefined
          ? { start, ...((begun ?? input.existed) && { begun: true as const }) }
          : { taken };
      return { type: 'handoff_prepared', output: { ...found, eventsUpTo } };
    }
    case 'close_child': {
      const { children = [] } = shell.script;
      const { end, waits } = children[Number(/\d+$/.exec(effect.input.child)?.[0]) - 1] ?? {};
      if (waits && !effect.input.last) return { type: 'child_closed', output: { eventsUpTo } };
      return {
        type: 'child_closed',
        output: { end: { ...CHILD_ENDED, ...end }, eventsUpTo },
      };
    }
    case 'close_run':
      goTo(shell, effect.input.head);
      appendItems(shell.transcript, effect.input.append);
      return { type: 'run_closed', output: { head: 'closed', eventsUpTo } };
  }
}

/** The conversation that a head names: the one so far, unless a summary has just replaced it. */
function messagesAt(shell: Shell, head: string | null): readonly Message[] {
  return shell.summaries[head ?? ''] ?? shell.transcript.messages;
}

/** What a flush stores of the conversation. */
function messagesOf(shell: Shell, { id, input }: Started<'flush'>): { readonly head?: string } {
  if (input.head === undefined) return {};
  goTo(shell, input.head);
  appendItems(shell.transcript, input.append ?? []);
  return { head: `${id}:stored` };
}

function goTo(shell: Shell, head: string | null): void {
  shell.transcript.messages.splice(0, Infinity, ...messagesAt(shell, head));
}

/** As the activity does it, with the checks of the script instead of schemas. */
function checked(shell: Shell, effect: Started<'check_call'>) {
  const { tool, toolVersion, args: asked, state, when } = effect.input;
  const judge = shell.script.check ?? (state === undefined ? () => FINE : checkOf);
  const answer = (args: Json) => {
    const digest = callDigest({ tool, toolVersion, args });
    const { checkedBy } = shell.script;
    const by = checkedBy !== undefined && { schemaHash: checkedBy };
    return { args, digest, check: judge(tool, args), ...by };
  };
  if (state === undefined) return answer(asked);
  const entries = Object.entries(state).map(([path, value]) => {
    const text = 'text' in value ? value.text : (shell.script.blobs?.[value.$blob] ?? '');
    return [path, valueOf(text, value)] as const;
  });
  const values = Object.fromEntries(entries);
  if (when !== undefined && !holdsIn(values, when))
    return { ...answer({}), check: FINE, unmet: { kind: 'condition' } as const };
  const found = referencesIn(asked);
  const path = found.ok ? missingFrom(values, found.paths) : 'unreadable';
  if (path !== undefined)
    return { ...answer({}), check: FINE, unmet: { kind: 'reference', path } as const };
  return answer(resolveReferences(asked, values));
}

const FINE = { ok: true } as const;

/** As the activity does it: a word counts by the keys of that moment. */
function recorded(shell: Shell, { id, input }: Started<'record_outcome'>) {
  const { keysAtRecord, unfitValue } = shell.script;
  const deskKeys = keysAtRecord?.[entryAt(shell, 'record', id)];
  if (deskKeys === undefined || provesOutcome(deskKeys, input)) {
    return { ...stepsOf(shell), ...(unfitValue !== undefined && { finding: unfitValue }) };
  }
  return { unproven: { deskKeys } };
}

function ofOpen(shell: Shell, effect: Started<'open_run'>, eventsUpTo: number): Ended {
  const failure = shell.script.openFailures?.[effect.input.segment];
  if (failure !== undefined) return { type: 'effect_failed', failure };
  const { start } = effect.input;
  const { deskKeys, laterDeskKeys = deskKeys } = shell.script;
  if (start === undefined) {
    const keys = laterDeskKeys !== undefined && { deskKeys: laterDeskKeys };
    return {
      type: 'run_opened',
      output: { rules: shell.script.rules ?? RULES_VERSION, ...keys, eventsUpTo },
    };
  }
  const { goal, outputSchema } = start.task;
  const spilled = { $blob: 'a'.repeat(64), bytes: goal.length, preview: goal.slice(0, 200) };
  const output = {
    rules: shell.script.rules ?? RULES_VERSION,
    frozen: {
      ...frozenOf(shell.script),
      ...(outputSchema !== undefined && { outputSchema: { text: JSON.stringify(outputSchema) } }),
    },
    head: 'root',
    goal: shell.script.goalStored ? spilled : { text: goal },
    ...(deskKeys !== undefined && { deskKeys }),
    ...(shell.script.session !== undefined && { session: shell.script.session }),
    ...(shell.script.denied !== undefined && { denied: shell.script.denied }),
    eventsUpTo,
  };
  return { type: 'run_opened', output };
}

/** All hooks of a point, until one ends the chain. */
function ofHooks(shell: Shell, effect: Started<'run_hooks'>): Outcome {
  const { hooks, point } = effect.input;
  const outcomes: HookOutcome[] = [];
  let delayMs = 0;
  for (const hook of hooks) {
    const entries = shell.script.hooks?.[hook] ?? [];
    const entry = entries[entryAt(shell, `hook:${hook}`, `${effect.id} ${hook}`)] ?? {};
    if ('failure' in entry) return failed(effect.id, entry.failure);
    const { error, delayMs: takes = WORK_MS, ...opinion } = entry;
    const durationMs = takes;
    const outcome = { hook, opinion, durationMs, ...(error !== undefined && { error }) };
    outcomes.push(outcome);
    delayMs += takes;
    if (endsTheChain(point, outcome)) break;
  }
  const eventsUpTo = store(shell, effect);
  return back(effect.id, { type: 'hooks_ran', output: { outcomes, eventsUpTo } }, delayMs);
}

/** A flush that fails keeps nothing. */
function flushed(shell: Shell, effect: Started<'flush'>): number | undefined {
  const fails = entryAt(shell, 'flush', effect.id) < (shell.script.flushFailures ?? 0);
  return fails ? undefined : store(shell, effect);
}

/** Upserts the events that an effect carries; says which ones the store has without a gap. */
function store(shell: Shell, effect: ActivityEffect): number {
  for (const event of wholeEvents(effect.input)) {
    const { seq } = event.stamp;
    if (seq > shell.stored.length) throw new Error(`event ${seq} reached the store too early`);
    shell.stored[seq] = event;
  }
  return shell.stored.length;
}

function ofModel(shell: Shell, effect: Started<'call_model'>, how: How): Outcome {
  const { model } = shell.script;
  const entry = model[entryAt(shell, 'model', effect.id)] ?? { reply: EXHAUSTED };
  if ('failure' in entry) return failed(effect.id, entry.failure, entry.delayMs);
  const reply = how === 'cancelled' ? entry.partial : entry.reply;
  if (reply === undefined) return failed(effect.id, aborted());
  const { attempts = 1, retried = [], lostCostMicroUsd = 0, delayMs, bytes } = entry;
  return {
    delayMs: delayMs ?? WORK_MS,
    make: (at) => {
      const { input, id } = effect;
      const eventsUpTo = store(shell, effect);
      goTo(shell, input.head);
      appendItems(shell.transcript, input.append);
      appendReply(shell.transcript, input.replyMessageId, reply);
      const head = `${id}:${shell.transcript.messages.length}`;
      const lostUsage = NO_USAGE;
      const output: CallModelOutput = {
        head,
        reply: shell.script.olderWorkers ? reply : joinedTo(input.before, reply),
        ...(bytes !== undefined && { bytes }),
        ...(reply.stop === 'refusal' && { headBefore: `${id}:before` }),
        attempts,
        retried,
        lostCostMicroUsd,
        lostUsage,
        eventsUpTo,
      };
      return { type: 'model_replied', id, output, at };
    },
  };
}

/** As the activity does it with texts that lie in the payload. */
function joinedTo(before: StoredText | undefined, reply: Reply): Reply {
  if (before === undefined) return reply;
  const { text = { text: '' } } = reply;
  return { ...reply, answer: { text: previewOf(before) + previewOf(text) } };
}

/** A script that is used up escalates, so that no test hangs (S7). */
const EXHAUSTED: Reply = {
  calls: [],
  stop: 'end_turn',
  escalation: 'script_exhausted',
  usage: NO_USAGE,
  model: 'model',
};

function ofTool(shell: Shell, effect: Started<'execute_tool'>, how: How): Outcome {
  const { call } = effect.input;
  const entries = shell.script.outcomes?.[call.tool] ?? [];
  const taken = entryAt(shell, call.tool, effect.id);
  const entry = entries[Math.min(taken, entries.length - 1)] ?? { ok: { echo: call.args } };
  if (how === 'cancelled') {
    const outcome = {
      kind: 'ambiguous',
      message: 'Interrupted mid-execution',
      aborted: true,
    } as const;
    return back(effect.id, returned(shell, effect, { outcome }));
  }
  if ('hang' in entry) return { delayMs: Number.POSITIVE_INFINITY, make: () => unreachable() };
  if ('failure' in entry) return failed(effect.id, entry.failure, entry.delayMs);
  if ('schemaChanged' in entry) {
    const outcome = ofEntry(entry, false);
    return back(effect.id, returned(shell, effect, { outcome, attempts: 0 }));
  }
  const attempts =
    'attempts' in entry && entry.attempts !== undefined ? { attempts: entry.attempts } : {};
  const free = effect.input.cost === undefined ? undefined : 0;
  const { costMicroUsd = free } = 'costMicroUsd' in entry ? entry : {};
  const ended = returned(shell, effect, {
    outcome: ofEntry(entry, effect.input.typed === true),
    ...attempts,
    ...(costMicroUsd !== undefined && { costMicroUsd }),
    ...(effect.local && 'delayMs' in entry && { durationMs: entry.delayMs }),
  });
  return back(effect.id, ended, 'delayMs' in entry ? entry.delayMs : undefined);
}

function returned(
  shell: Shell,
  effect: Started<'execute_tool'>,
  more: Pick<ExecuteToolOutput, 'outcome' | 'costMicroUsd'> &
    Partial<Pick<ExecuteToolOutput, 'attempts' | 'durationMs'>>,
): Ended {
  const eventsUpTo = isRead(shell, effect) ? unstored(effect) : store(shell, effect);
  return {
    type: 'tool_returned',
    output: { attempts: 1, durationMs: WORK_MS, ...more, eventsUpTo },
  };
}

function isRead(shell: Shell, effect: Started<'execute_tool'>): boolean {
  const { tool: name } = effect.input.call;
  const record = shell.run.frozen?.tools.find((tool) => tool.name === name);
  return record !== undefined && !isMutating(record);
}

/** A quick read leaves its events to the next effect. */
function unstored(effect: ActivityEffect): number {
  return effect.input.events[0]?.stamp.seq ?? 0;
}

function ofEntry(
  entry: Exclude<ToolEntry, { hang: true } | { failure: Failure }>,
  typed: boolean,
): ToolOutcome {
  if ('ok' in entry) {
    const text = typeof entry.ok === 'string' ? entry.ok : JSON.stringify(entry.ok);
    const json = typed && typeof entry.ok !== 'string';
    return { kind: 'ok', content: { text, ...(json && { json: true }) } };
  }
  if ('stored' in entry) {
    const { stored: content, delayMs: _, ...beside } = entry;
    return { kind: 'ok', content, ...beside };
  }
  if ('error' in entry)
    return { kind: 'error', code: entry.code ?? 'execution_error', message: entry.error };
  if ('elsewhere' in entry) return { kind: 'elsewhere', reason: entry.elsewhere };
  if ('ambiguous' in entry) {
    const { ambiguous: message, claimed } = entry;
    return { kind: 'ambiguous', message, ...(claimed !== undefined && { claimed }) };
  }
  if ('asks' in entry) {
    const schema = { type: 'object', properties: { yes: { type: 'boolean' } } };
    const elicitation = { connector: 'files', message: entry.asks, mode: 'form', schema } as const;
    return { kind: 'input_required', elicitation, exchange: { text: 'exchange' } };
  }
  if ('repeats' in entry) {
    const facts = {
      runId: 'run_0',
      tool: 'pay',
      at: 1,
      state: 'done',
      approvedBy: ['ada'],
    } as const;
    const earlier = entry.repeats.map((key) => ({ key, ...facts }));
    return { kind: 'repeats', repeats: { identity: ['O-104'], earlier } };
  }
  if ('schemaChanged' in entry) return { kind: 'schema_changed', schemaHash: entry.schemaChanged };
  return { kind: 'key_conflict', message: 'the key is taken' };
}

function stepsOf({ script: { recovery: steps } }: Shell) {
  return steps === undefined ? {} : { steps };
}

function ofReconcile(shell: Shell, effect: Started<'reconcile_tool'>, how: How): Outcome {
  if (how === 'cancelled') return failed(effect.id, aborted());
  const { findings = [] } = shell.script;
  const taken = entryAt(shell, 'reconcile', effect.id);
  const unknown: Finding = { kind: 'unknown', message: 'nobody knows' };
  const finding = findings[Math.min(taken, findings.length - 1)] ?? unknown;
  if ('failure' in finding) return failed(effect.id, finding.failure);
  const output = { finding, ...stepsOf(shell), eventsUpTo: store(shell, effect) };
  return back(effect.id, { type: 'tool_reconciled', output });
}

/** Which entry of a script belongs to this effect. */
function entryAt(shell: Shell, what: string, effectId: string): number {
  const before = shell.allotted[effectId];
  if (before !== undefined) return before;
  const next = shell.used[what] ?? 0;
  shell.used[what] = next + 1;
  shell.allotted[effectId] = next;
  return next;
}

function back(id: string, ended: Ended, delayMs = WORK_MS): Outcome {
  return { delayMs, make: (at) => ({ ...ended, id, at }) as Input };
}

function failed(id: string, failure: Failure, delayMs = WORK_MS): Outcome {
  return { delayMs, make: (at) => ({ type: 'effect_failed', id, failure, at }) };
}

function aborted(): Failure {
  return { code: 'Aborted', message: 'cancelled', cancelled: true };
}

function unreachable(): never {
  throw new Error('a hanging tool came back');
}
