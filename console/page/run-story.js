/**
 * A run's events as steps that people can follow: a model call, a tool call, a wait are one step each, from the
 * event that begins it to the one that ends it. Pure: it draws nothing.
 * Invariant: a step keeps its place; later events only complete it.
 */

/** @typedef {import('./api-types.js').RunEvent} RunEvent */
/** @typedef {'model' | 'tool' | 'wait' | 'trouble' | 'note' | 'end'} Tone */
/**
 * @typedef {object} Step
 * @property {string} id
 * @property {Tone} tone
 * @property {number} turn
 * @property {number} from
 * @property {number | undefined} to Undefined: it is under way.
 * @property {string} title
 * @property {string} [detail] Of the runtime itself.
 * @property {'ok' | 'error'} [outcome]
 * @property {RunEvent} [begun]
 * @property {RunEvent} [ended]
 */

export class Story {
  /** @type {Step[]} */
  steps = [];
  /** @type {RunEvent | undefined} */
  opening;
  /** @type {import('./api-types.js').RunResult | undefined} */
  result;
  costMicroUsd = 0;
  modelCalls = 0;
  toolCalls = 0;
  retries = 0;
  /** @type {Map<string, Step>} Begun and not ended, by what ends them. */
  #open = new Map();
  #lastAt = 0;

  /**
   * @param {RunEvent} event
   * @returns {Step | undefined} The step that is new or has changed.
   */
  take(event) {
    const step = this.#stepOf(event);
    // Between two attempts at one reply the model is at work.
    if (event.type !== 'retry') this.#lastAt = event.stamp.at;
    return step;
  }

  /**
   * @param {RunEvent} event
   * @returns {Step | undefined}
   */
  #stepOf(event) {
    switch (event.type) {
      case 'session_init':
        this.opening = event;
        return this.#point(event, 'note', 'The run begins');
      case 'model_response':
        return this.#modelStep(event);
      case 'tool_started':
        return this.#begin(event, `tool ${event.callId}`, { tone: 'tool', title: event.tool });
      case 'tool_finished':
        return this.#toolEnd(event);
      case 'approval_requested':
      case 'input_request':
        return this.#begin(event, `ask ${event.askId}`, { tone: 'wait', title: waitTitle(event) });
      case 'approval_resolved':
      case 'approval_withdrawn':
      case 'input_provided':
        return this.#waitEnd(event);
      case 'run_result':
        this.result = event.result;
        return undefined;
      default:
        return this.#noteOf(event);
    }
  }

  /**
   * @param {Extract<RunEvent, { type: 'model_response' }>} event
   */
  #modelStep(event) {
    this.costMicroUsd += event.costMicroUsd;
    this.modelCalls += 1;
    const calls = event.calls.length;
    const title =
      calls === 0
        ? 'The model answers'
        : `The model proposes ${calls === 1 ? 'a call' : `${calls} calls`}`;
    return this.#add(event, {
      tone: 'model',
      title,
      from: this.#lastAt || event.stamp.at,
      to: event.stamp.at,
    });
  }

  /** @param {Extract<RunEvent, { type: 'tool_finished' }>} event */
  #toolEnd(event) {
    if (event.started) this.toolCalls += 1;
    const outcome = /** @type {'ok' | 'error'} */ (event.status === 'ok' ? 'ok' : 'error');
    const detail = event.code ?? (event.attempts > 1 ? `${event.attempts} attempts` : undefined);
    const said = { outcome, ...(detail !== undefined && { detail }) };
    const open = this.#end(event, `tool ${event.callId}`);
    if (open !== undefined) return Object.assign(open, said);
    const isRefused = event.status !== 'ok';
    return this.#add(event, {
      tone: isRefused ? 'trouble' : 'tool',
      title: isRefused ? `${event.tool} was not run` : event.tool,
      ...said,
    });
  }

  /** @param {Extract<RunEvent, { type: 'approval_resolved' | 'approval_withdrawn' | 'input_provided' }>} event */
  #waitEnd(event) {
    const open = this.#end(event, `ask ${event.askId}`);
    if (open === undefined) return this.#grantUse(event);
    const outcome = event.type === 'approval_withdrawn' ? 'withdrawn' : event.outcome;
    const by = 'by' in event && event.by.length > 0 ? ` by ${event.by.join(', ')}` : '';
    const grant = 'grant' in event ? event.grant : undefined;
    const more = grant === undefined ? '' : `, and up to ${grant.uses} more like it`;
    open.detail = `${outcome}${by}${more}`;
    open.outcome = ['rejected', 'expired', 'withdrawn', 'stopped'].includes(outcome)
      ? 'error'
      : 'ok';
    return open;
  }

  /**
   * Nobody was asked, because somebody had approved it before.
   * @param {RunEvent} event
   */
  #grantUse(event) {
    if (event.type !== 'approval_resolved' || event.reason?.startsWith('grant:') !== true) {
      return undefined;
    }
    const title = `${event.tool ?? 'An action'} goes ahead by a standing grant`;
    return this.#point(event, 'note', title, `given by ${event.by.join(', ')}`);
  }

  /**
   * @param {RunEvent} event
   * @returns {Step | undefined}
   */
  #noteOf(event) {
    switch (event.type) {
      case 'retry':
        this.retries += 1;
        return this.#point(
          event,
          'trouble',
          'The model is asked again',
          `attempt ${event.attempt}, after ${event.class}`,
        );
      case 'model_error':
        return this.#point(event, 'trouble', 'The model failed', event.class);
      case 'transition':
        return event.reason === 'next_turn'
          ? undefined
          : this.#point(event, 'note', event.reason.replaceAll('_', ' '));
      case 'tool_reconciled':
        return this.#point(
          event,
          'trouble',
          `Looked into what became of ${event.tool}`,
          event.finding.replaceAll('_', ' '),
        );
      case 'user_message':
        return this.#point(event, 'note', 'A message of the user');
      case 'compact_boundary':
        return this.#point(
          event,
          'note',
          'The conversation was summarised',
          `${event.preTokens} → ${event.postTokens} tokens`,
        );
      case 'warning':
        return this.#point(event, 'trouble', 'A warning', event.code);
      case 'interruption':
        return this.#point(event, 'trouble', 'Somebody stopped it');
      case 'approval_escalated':
        return this.#point(event, 'note', 'Others may decide as well', event.roles.join(', '));
      case 'decision_recorded':
        return this.#point(event, 'note', 'A person has decided', `${event.decision}: ${event.by}`);
      case 'permission':
        return event.decision === 'deny'
          ? this.#point(event, 'trouble', `${event.tool} is not allowed`, event.rule)
          : undefined;
      case 'stop':
        return this.#point(
          event,
          'end',
          event.reason === 'completed' ? 'Completed' : 'Stopped',
          event.reason,
        );
      default:
        return undefined;
    }
  }

  /**
   * @param {RunEvent} event
   * @param {Tone} tone
   * @param {string} title
   * @param {string} [detail]
   */
  // oxlint-disable-next-line max-params
  #point(event, tone, title, detail) {
    return this.#add(event, { tone, title, ...(detail !== undefined && { detail }) });
  }

  /**
   * @param {RunEvent} event
   * @param {Pick<Step, 'tone' | 'title'> & Partial<Step>} said
   */
  #add(event, said) {
    const { at, turn, seq } = event.stamp;
    /** @type {Step} */
    const step = { id: String(seq), turn, from: at, to: at, ended: event, ...said };
    this.steps.push(step);
    return step;
  }

  /**
   * @param {RunEvent} event
   * @param {string} name
   * @param {Pick<Step, 'tone' | 'title'>} said
   */
  #begin(event, name, said) {
    const { at, turn, seq } = event.stamp;
    /** @type {Step} */
    const step = { id: String(seq), turn, from: at, to: undefined, begun: event, ...said };
    this.steps.push(step);
    this.#open.set(name, step);
    return step;
  }

  /**
   * @param {RunEvent} event
   * @param {string} name
   */
  #end(event, name) {
    const step = this.#open.get(name);
    if (step === undefined) return undefined;
    this.#open.delete(name);
    step.to = event.stamp.at;
    step.ended = event;
    return step;
  }
}

/** @param {Extract<RunEvent, { type: 'approval_requested' | 'input_request' }>} event */
function waitTitle({ kind, tool }) {
  switch (kind) {
    case 'approval':
      return `Waits for approval of ${tool ?? 'an action'}`;
    case 'outcome':
      return `Waits to be told what became of ${tool ?? 'an action'}`;
    case 'budget':
      return 'Waits for more budget';
    case 'user_message':
      return 'Waits for its user';
    default:
      return 'Waits for an answer';
  }
}

/** Pauses beyond this many ms are drawn shorter, so that a night does not hide the minutes around it. */
const PAUSE_MS = 8_000;

/**
 * From times to places between 0 and 1. Pure.
 * @param {readonly Step[]} steps
 * @param {number} end The time of what is under way.
 * @returns {(at: number) => number}
 */
export function scaleOf(steps, end) {
  const times = steps.flatMap(({ from, to }) => [from, to ?? end]);
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  /** @type {Map<number, number>} */
  const places = new Map();
  let place = 0;
  let before = sorted[0] ?? 0;
  for (const time of sorted) {
    const gap = time - before;
    place += gap <= PAUSE_MS ? gap : PAUSE_MS * (1 + Math.log10(gap / PAUSE_MS));
    places.set(time, place);
    before = time;
  }
  const whole = Math.max(1, place);
  return (at) => (places.get(at) ?? 0) / whole;
}
