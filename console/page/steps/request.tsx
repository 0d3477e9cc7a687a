/** The request that a model saw: system prompt, tools and messages, as the provider was given them. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Moment } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Exact } from '../parts/folded.js';
import { whole } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';

type Request = NonNullable<Moment['request']>;
type Message = NonNullable<Request['messages']>[number];

/** The newest first of a long conversation. */
const SHOWN_AT_FIRST = 6;
const SHOWN_MORE = 100;

export interface RequestProps {
  readonly request: Request;
  readonly step: number;
  readonly go: (step: number) => void;
}

export function RequestShown({ request, step, go }: RequestProps): VNode {
  const { model, system, tools = [], messages = [], missing } = request;
  return (
    <>
      <p class="help">
        {model !== undefined && (
          <>
            To <InertLine text={model} max={100} />.{' '}
          </>
        )}
        {request.step !== step && (
          <button type="button" class="link" onClick={() => go(request.step)}>
            {`Begun in step ${request.step}`}
          </button>
        )}
      </p>
      {missing !== undefined && <p class="notice stopped">{missing}</p>}
      {missing === undefined && (
        <>
          <h4>System prompt</h4>
          <InertBlock text={system ?? ''} />
          <h4>{`Tools (${tools.length})`}</h4>
          {tools.map((tool, place) => (
            <Exact key={place} title={<InertLine text={tool.name} max={128} />} value={tool} />
          ))}
          <h4>{`Messages (${whole(messages.length)})`}</h4>
          <Messages messages={messages} />
        </>
      )}
      <Exact title="The request as it was made" value={request} />
    </>
  );
}

function Messages({ messages }: { readonly messages: readonly Message[] }): VNode {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const earlier = messages.length - shown;
  return (
    <>
      {earlier > 0 && (
        <Button
          label={`Show earlier ones (${whole(earlier)})`}
          press={() => setShown(shown + SHOWN_MORE)}
        />
      )}
      <ol class="messages">
        {messages.slice(-shown).map(({ role, blocks }, place) => (
          <li class={`message ${role === 'user' ? 'user' : 'model'}`} key={place}>
            <p class="message-who">
              <b>{role === 'user' ? 'User' : 'Model'}</b>
            </p>
            {blocks.map((block, at) => (
              <BlockShown key={at} block={block} />
            ))}
          </li>
        ))}
      </ol>
    </>
  );
}

function BlockShown({ block }: { readonly block: Message['blocks'][number] }): VNode {
  const { type, text = '', tool = '', args, isError } = block;
  if (type === 'tool_use') {
    return (
      <div class="call">
        <span class="call-tool">
          <InertLine text={tool} max={128} />
        </span>
        <Exact title="Arguments" value={args} />
      </div>
    );
  }
  return (
    <div class="block-shown">
      {type !== 'text' && (
        <span class="help">{`${type.replaceAll('_', ' ')}${isError === true ? ', an error' : ''}`}</span>
      )}
      <InertBlock text={text} />
    </div>
  );
}
