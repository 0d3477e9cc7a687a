/** The request that a model saw: system prompt, tools and messages, as the provider was given them. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from '../data/api.js';
import type { Moment } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Exact, ExactJson, Unfolding } from '../parts/folded.js';
import { whole } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { Outcome, useAct } from '../parts/use-act.js';
import { getMoment, MESSAGES_AT_FIRST } from './use-steps.js';

type Request = NonNullable<Moment['request']>;
type Message = NonNullable<Request['messages']>[number];

const SHOWN_MORE = 100;

export interface RequestProps {
  readonly request: Request;
  readonly moment: Pick<Moment, 'runId' | 'step'>;
  /** Which of the moment's it is. */
  readonly part: 'request' | 'answered';
  readonly go: (step: number) => void;
}

export function RequestShown(props: RequestProps): VNode {
  const { go, moment } = props;
  const { request, load } = useRequest(props);
  const { model, system, tools = [], missing } = request;
  return (
    <>
      <p class="help">
        {model !== undefined && (
          <>
            To <InertLine text={model} max={100} />.{' '}
          </>
        )}
        {request.step !== moment.step && (
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
          <Messages request={request} load={load} />
        </>
      )}
      <Unfolding
        class="exact"
        summary="The request as it was made"
        draw={() =>
          request.earlierMessages === undefined ? (
            <ExactJson value={request} />
          ) : (
            <Fetching load={load} />
          )
        }
      />
    </>
  );
}

/** So many of its newest messages; absent: all. Errors: ApiProblem. */
type Load = (messages?: number) => Promise<void>;

interface Loading {
  readonly request: Request;
  readonly load: Load;
}

/** A long conversation is there in part, until somebody wants more of it. */
function useRequest({ request: first, moment, part }: RequestProps): Loading {
  const [request, setRequest] = useState(first);
  const load: Load = async (messages) => {
    const { runId, step } = moment;
    const found = (await getMoment({ runId, step, messages }))[part];
    const { missing: detail } = found ?? {};
    if (detail !== undefined) throw new ApiProblem({ status: 0, code: 'missing', detail });
    // Of two that were under way at a time the larger one stays.
    if (found !== undefined)
      setRequest((before) => (toldOf(found) > toldOf(before) ? found : before));
  };
  return { request, load };
}

function toldOf({ messages = [] }: Request): number {
  return messages.length;
}

function Messages({ request, load }: Loading): VNode {
  const { messages = [], earlierMessages = 0 } = request;
  const [shown, setShown] = useState(MESSAGES_AT_FIRST);
  const { act, fault } = useAct();
  const all = messages.length + earlierMessages;
  const more = async (): Promise<void> => {
    const next = shown + SHOWN_MORE;
    const areThere = messages.length >= Math.min(next, all);
    if (await act(async () => areThere || load(next))) setShown(next);
  };
  return (
    <>
      <h4>{`Messages (${whole(all)})`}</h4>
      {all > shown && <Button label={`Show earlier ones (${whole(all - shown)})`} press={more} />}
      <Outcome said="" fault={fault} />
      <ol class="messages">
        {messages.slice(-shown).map((message, place) => (
          <MessageShown key={place} message={message} />
        ))}
      </ol>
    </>
  );
}

function Fetching({ load }: Pick<Loading, 'load'>): VNode {
  const { act, fault } = useAct();
  const [hasFailed, setFailed] = useState(false);
  const begin = async (): Promise<void> => {
    if (!(await act(() => load()))) setFailed(true);
  };
  useEffect(() => void begin(), []);
  return (
    <>
      <Outcome said={fault === '' ? 'The whole request is being fetched …' : ''} fault={fault} />
      {hasFailed && <Button label="Try again" press={begin} />}
    </>
  );
}

function MessageShown({ message: { role, blocks } }: { readonly message: Message }): VNode {
  return (
    <li class={`message ${role === 'user' ? 'user' : 'model'}`}>
      <p class="message-who">
        <b>{role === 'user' ? 'User' : 'Model'}</b>
      </p>
      {blocks.map((block, at) => (
        <BlockShown key={at} block={block} />
      ))}
    </li>
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
