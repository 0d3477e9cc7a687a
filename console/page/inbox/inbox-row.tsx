/** One row of the inbox: enough to find a question again, not to decide on it. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { argumentsInOrder } from '../../../pure/argument-order.js';
import { agentPathText } from '../../../pure/agent-path.js';
import { headlineOf, labelOf } from '../../../pure/headline.js';
import type { Ask, Json } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { relative, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { KIND_NAMES } from '../parts/kind-names.js';
import { oneLine } from '../parts/json-value.js';
import { inboxPath } from '../parts/paths.js';

const SOON_MS = 3_600_000;
const SUMMARY_CHARS = 140;
const SUMMARY_ARGUMENTS = 4;

export interface InboxRowProps {
  readonly ask: Ask;
  readonly isSelected: boolean;
}

export function InboxRow({ ask, isSelected }: InboxRowProps): VNode {
  const { askId, argsHash, openedAt, kind, tool, quorum, runId, agentPath } = ask;
  const left = timeLeft(ask);
  const isSoon = ask.outcome === 'pending' && ask.expiresAt - now() < SOON_MS;
  return useMemo(
    () => (
      <li>
        <a href={inboxPath(askId)} {...(isSelected && { 'aria-current': 'true' })}>
          <span class="row-top">
            <span class="row-title">
              <InertLine text={tool ?? KIND_NAMES[kind]} max={80} />
            </span>
            <span class={isSoon ? 'row-time soon' : 'row-time'}>{left}</span>
          </span>
          <Summary ask={ask} />
          <span class="row-foot">
            <span class={`badge ${kind}`}>{KIND_NAMES[kind]}</span>
            {quorum > 1 && <span class="badge">{`${quorum} people`}</span>}
            <span class="row-run">
              <InertLine
                text={agentPath === undefined ? runId : agentPathText(agentPath)}
                max={60}
              />
            </span>
          </span>
        </a>
      </li>
    ),
    // Of one action everything else stays.
    [askId, argsHash, openedAt, left, isSoon, isSelected],
  );
}

function timeLeft({ expiresAt, outcome, resolvedAt }: Ask): string {
  if (outcome !== 'pending') {
    return `${words(outcome)}${resolvedAt === undefined ? '' : `, ${relative(resolvedAt, now())}`}`;
  }
  if (expiresAt <= now()) return 'expiring';
  return `${relative(expiresAt, now()).replace('in ', '')} left`;
}

function Summary({ ask }: { readonly ask: Ask }): VNode {
  const { question, kind, args } = ask;
  // What asks by a question alone is about no call.
  const isAboutCall = kind === 'approval' && ask.tool !== undefined;
  if (question !== undefined && !isAboutCall) return <SummaryLine text={question} />;
  const { amount, recipient } = headlineOf(ask);
  if (amount === undefined && recipient === undefined) {
    const parts = argumentsInOrder((args ?? {}) as Json).slice(0, SUMMARY_ARGUMENTS);
    const texts = parts.map(({ path, value }) => `${labelOf(ask.card, path)} ${oneLine(value)}`);
    return <SummaryLine text={texts.join(', ')} />;
  }
  return (
    <span class="row-main">
      {amount !== undefined && (
        <span class="row-amount">
          <InertLine text={amount.value} max={80} />
        </span>
      )}
      {recipient !== undefined && (
        <span>
          <InertLine text={recipient.value} max={80} />
        </span>
      )}
    </span>
  );
}

function SummaryLine({ text }: { readonly text: string }): VNode {
  return (
    <span class="row-main">
      <InertLine text={text} max={SUMMARY_CHARS} />
    </span>
  );
}
