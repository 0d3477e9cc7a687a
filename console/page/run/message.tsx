/** One message of the conversation between a run and its model. */
import type { ComponentChildren, VNode } from 'preact';
import type { TranscriptMessage } from '../../../client/read/transcript.js';
import type { RunEvent } from '../data/api-types.js';
import { AttachedFiles } from '../parts/attached.js';
import { Exact } from '../parts/folded.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { excerptOf } from '../parts/json-value.js';
import { ResultText } from '../parts/result-text.js';
import { Sources } from '../parts/sources.js';
import { StoredText } from '../parts/stored-text.js';

interface StoredMessageProps {
  readonly message: TranscriptMessage;
  readonly runId: string;
}

export function StoredMessage({ message, runId }: StoredMessageProps): VNode {
  const {
    role,
    text,
    thinking,
    attachments,
    sources,
    calls = [],
    results = [],
    model,
    flags = [],
  } = message;
  const about = [model, ...flags].filter((word) => word !== undefined).join(', ');
  const who = role !== 'user' ? 'Model' : results.length > 0 ? 'Results' : 'User';
  return (
    <MessageRow who={who} about={about}>
      {thinking !== undefined && (
        <details class="thinking">
          <summary>Thinking</summary>
          <InertBlock text={thinking} />
        </details>
      )}
      {text !== undefined && <InertBlock text={text} />}
      <AttachedFiles files={attachments} runId={runId} />
      <Sources sources={sources} />
      {calls.map(({ tool, args }, place) => (
        <CallRow key={place} tool={tool} args={args} />
      ))}
      {results.map(({ isError, text: result, attachments: files }, place) => (
        <div key={place}>
          <ResultText excerpt={{ text: result }} runId="" hasFailed={isError} />
          <AttachedFiles files={files} runId={runId} />
        </div>
      ))}
    </MessageRow>
  );
}

interface EventMessageProps {
  readonly event: RunEvent;
  readonly runId: string;
}

function senderOf(event: RunEvent): string | undefined {
  return event.type === 'user_message' ? event.from?.agent : undefined;
}

export function EventMessage({ event, runId }: EventMessageProps): VNode | null {
  switch (event.type) {
    case 'session_init':
    case 'user_message': {
      const said = event.type === 'session_init' ? event.goal : event.text;
      return (
        <MessageRow
          who={event.type === 'user_message' && event.from ? 'Agent' : 'User'}
          about={senderOf(event)}
        >
          <StoredText excerpt={excerptOf(said)} runId={runId} />
          <AttachedFiles files={event.attachments} runId={runId} />
        </MessageRow>
      );
    }
    case 'model_response':
      return (
        <MessageRow who="Model" about={event.model}>
          {event.text !== undefined && <StoredText excerpt={excerptOf(event.text)} runId={runId} />}
          <Sources sources={event.sources} />
          {event.calls.map(({ tool, args }, place) => (
            <CallRow key={place} tool={tool} args={args} />
          ))}
        </MessageRow>
      );
    case 'tool_finished':
      return (
        <MessageRow who="Results" about={event.tool}>
          <ResultText
            excerpt={excerptOf(event.content)}
            runId={runId}
            hasFailed={event.status !== 'ok'}
          />
          <AttachedFiles files={event.attachments} runId={runId} />
        </MessageRow>
      );
    default:
      return null;
  }
}

interface MessageRowProps {
  readonly who: 'User' | 'Agent' | 'Model' | 'Results';
  readonly about?: string;
  readonly children: ComponentChildren;
}

function MessageRow({ who, about = '', children }: MessageRowProps): VNode {
  return (
    <li class={`message ${who.toLowerCase()}`}>
      <p class="message-who">
        <b>{who}</b>
        {about !== '' && (
          <span class="help">
            <InertLine text={about} max={100} />
          </span>
        )}
      </p>
      {children}
    </li>
  );
}

function CallRow({ tool, args }: { readonly tool: string; readonly args: unknown }): VNode {
  return (
    <div class="call">
      <span class="call-tool">
        <InertLine text={tool} max={128} />
      </span>
      <Exact title="Arguments" value={args} />
    </div>
  );
}
