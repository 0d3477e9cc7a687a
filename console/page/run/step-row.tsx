/** One step of a run: what it is, how long it took, what was said and done. */
import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RunEvent } from '../data/api-types.js';
import { AttachedFiles } from '../parts/attached.js';
import { Exact, Folded } from '../parts/folded.js';
import { cost, duration, exactTime } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { excerptOf, oneLine } from '../parts/json-value.js';
import { Readable } from '../parts/readable.js';
import { RecoveryList } from '../parts/recovery.js';
import { ResultText } from '../parts/result-text.js';
import { Sources } from '../parts/sources.js';
import { StoredText } from '../parts/stored-text.js';
import { inboxPath } from '../parts/paths.js';
import type { Step } from './story.js';
import { warningText } from './story-words.js';
import { Bar, type Span } from './time-bar.js';

const TONE_NAMES: { readonly [tone in Step['tone']]: string } = {
  model: 'Model',
  tool: 'Tool',
  wait: 'Wait',
  trouble: 'Trouble',
  note: 'Note',
  end: 'End',
};
const TOOL_CHARS = 60;

export interface StepRowProps extends Span {
  readonly step: Step;
  readonly runId: string;
}

export function StepRow({ step, runId, from, to }: StepRowProps): VNode {
  // Of thousands of steps nearly all are as they were: only their places move.
  const head = useMemo(() => <StepHead step={step} />, [step]);
  const body = useMemo(
    () => (
      <div class="step-body">
        <Beginning event={step.begun} runId={runId} />
        <Ending event={step.takenBack ? undefined : step.ended} runId={runId} />
      </div>
    ),
    [step, runId],
  );
  return (
    <li class={`step ${step.tone}${step.outcome === 'error' ? ' failed' : ''}`}>
      {head}
      <div class="track" aria-hidden="true">
        <Bar step={step} from={from} to={to} />
      </div>
      {body}
    </li>
  );
}

function StepHead({ step }: { readonly step: Step }): VNode {
  const { tone, title, detail, from, to, ended } = step;
  const took = to === undefined ? 'under way' : to > from ? duration(to - from) : '';
  const spent = ended && 'costMicroUsd' in ended ? ended.costMicroUsd : undefined;
  const price = spent === undefined ? '' : ` · ${cost(spent)}`;
  return (
    <div class="step-head">
      <span class="unseen">{`${TONE_NAMES[tone]}: `}</span>
      <span class="step-title">
        <InertLine text={title} max={160} />
        {detail !== undefined && (
          <span class="step-detail">
            <InertLine text={detail} max={160} />
          </span>
        )}
      </span>
      <span class="step-figures">
        <time title={exactTime(from)}>{`${took}${price}`}</time>
      </span>
    </div>
  );
}

interface PartProps {
  readonly event: RunEvent | undefined;
  readonly runId: string;
}

function Beginning({ event, runId }: PartProps): ComponentChildren {
  switch (event?.type) {
    case 'tool_started': {
      const { args } = event;
      return <Folded text={oneLine(args)} draw={() => <Readable value={args} runId={runId} />} />;
    }
    case 'approval_requested':
    case 'input_request':
      if (event.kind === 'user_message') return null;
      return <a href={inboxPath(event.askId)}>Look at the question</a>;
    default:
      return null;
  }
}

function Ending({ event, runId }: PartProps): ComponentChildren {
  switch (event?.type) {
    case 'session_init':
    case 'user_message': {
      const said = event.type === 'session_init' ? event.goal : event.text;
      return (
        <>
          <StoredText excerpt={excerptOf(said)} runId={runId} />
          <AttachedFiles files={event.attachments} runId={runId} />
        </>
      );
    }
    case 'model_response':
      return <Said event={event} runId={runId} />;
    case 'tool_finished':
      return <Returned event={event} runId={runId} />;
    case 'tool_reconciled':
      return <RecoveryList steps={event.steps} />;
    case 'warning':
      return <InertLine text={warningText(event)} max={500} />;
    case 'model_error':
      return <InertLine text={event.message} max={500} />;
    default:
      return null;
  }
}

interface OfEvent<Type extends RunEvent['type']> {
  readonly event: Extract<RunEvent, { readonly type: Type }>;
  readonly runId: string;
}

function Said({ event, runId }: OfEvent<'model_response'>): VNode {
  const { text, partial, calls, sources } = event;
  const tools = calls.map(({ tool }) => tool.slice(0, TOOL_CHARS)).join(', ');
  return (
    <>
      {text !== undefined && (
        <div class="quoted">
          <StoredText excerpt={excerptOf(text)} runId={runId} />
        </div>
      )}
      <Sources sources={sources} />
      {partial === true && <p class="help">The reply was cut off.</p>}
      {calls.length > 0 && <Exact title={`Proposed: ${tools}`} value={calls} />}
    </>
  );
}

function Returned({ event, runId }: OfEvent<'tool_finished'>): VNode {
  const { content, status, attachments } = event;
  const excerpt = excerptOf(content);
  const hasFailed = status !== 'ok';
  const result = <ResultText excerpt={excerpt} runId={runId} hasFailed={hasFailed} />;
  // Why it failed is read at a glance.
  if (hasFailed && excerpt.blob === undefined) return result;
  return (
    <>
      <Folded text={`→ ${excerpt.text}`} draw={() => result} />
      <AttachedFiles files={attachments} runId={runId} />
    </>
  );
}
