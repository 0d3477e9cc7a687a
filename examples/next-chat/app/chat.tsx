'use client';
/** A chat: words, calls of tools, questions to the person, stop, other words, another answer; it is resumed when it is loaded. */
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { liveParts } from 'holdfast/http/projection';
import { useEffect, useState, type ReactNode } from 'react';

interface Place {
  readonly id: string;
  readonly api: string;
}

/** The stored conversation first; an answer that is under way comes from the stream. */
export function LoadedChat({ id, api }: Place) {
  const [messages, setMessages] = useState<UIMessage[]>();
  useEffect(() => {
    void fetch(`${api}/${encodeURIComponent(id)}/messages`)
      .then((response) => response.json())
      .then((loaded: { messages: UIMessage[] }) => setMessages(loaded.messages));
  }, [api, id]);
  return messages === undefined ? null : <Chat id={id} api={api} stored={messages} />;
}

function Chat({ id, api, stored }: Place & { readonly stored: UIMessage[] }) {
  const [transport] = useState(() => new DefaultChatTransport({ api }));
  const [editing, setEditing] = useState<string>();
  const [text, setText] = useState('');
  const chat = useChat({
    id,
    messages: stored,
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  const edit = (message: UIMessage) => {
    setEditing(message.id);
    setText(message.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  };
  const send = () => {
    if (text.trim() === '') return;
    void chat.sendMessage(editing === undefined ? { text } : { text, messageId: editing });
    setText('');
    setEditing(undefined);
  };
  return (
    <main data-status={chat.status}>
      <ol>
        {chat.messages.map((message) => (
          <li key={message.id} data-role={message.role}>
            {liveParts(message.parts).map((part, index) => (
              <Part key={index} part={part} answer={chat.addToolApprovalResponse} />
            ))}
            {message.role === 'user' && !isBusy && (
              <button onClick={() => edit(message)}>Edit</button>
            )}
          </li>
        ))}
      </ol>
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <Entry text={text} setText={setText} send={send}>
        <button type="submit" disabled={isBusy}>
          {editing === undefined ? 'Send' : 'Change'}
        </button>
        {isBusy ? (
          <Stop id={id} api={api} />
        ) : (
          <button type="button" onClick={() => void chat.regenerate()}>
            Answer anew
          </button>
        )}
      </Entry>
    </main>
  );
}

interface EntryOf {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly send: () => void;
  readonly children: ReactNode;
}

function Entry({ text, setText, send, children }: EntryOf) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      {children}
    </form>
  );
}

/** `stop()` of useChat only stops reading; this interrupts the run. */
function Stop({ id, api }: Place) {
  const stop = () => void fetch(`${api}/${encodeURIComponent(id)}/stop`, { method: 'POST' });
  return (
    <button type="button" onClick={stop}>
      Stop
    </button>
  );
}

type Shown = UIMessage['parts'][number];
type Answer = (answer: { id: string; approved: boolean; reason?: string }) => unknown;

function Part({ part, answer }: { readonly part: Shown; readonly answer: Answer }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'reasoning') return <details>{part.text}</details>;
  // Words of sub-agents, and what else Holdfast tells: see the guide.
  if (!('toolCallId' in part)) return null;
  const id = part.state === 'approval-requested' ? part.approval.id : undefined;
  return (
    <section data-tool={part.type} data-state={part.state}>
      <code>{`${part.type.slice('tool-'.length)} ${JSON.stringify(part.input)}`}</code>
      {part.state === 'output-available' && <pre>{JSON.stringify(part.output)}</pre>}
      {part.state === 'output-error' && <pre>{part.errorText}</pre>}
      {id !== undefined && (
        <>
          <button onClick={() => answer({ id, approved: true })}>Approve</button>
          <button onClick={() => answer({ id, approved: false })}>Reject</button>
        </>
      )}
    </section>
  );
}
