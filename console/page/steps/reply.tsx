/** The newest reply of the model, as it came. */
import type { VNode } from 'preact';
import type { Source } from '../../../pure/sources.js';
import type { Moment } from '../data/api-types.js';
import { Exact } from '../parts/folded.js';
import { words } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { Sources } from '../parts/sources.js';

export interface ReplyProps {
  readonly reply: NonNullable<Moment['reply']>;
  readonly step: number;
  readonly go: (step: number) => void;
}

export function ReplyShown({ reply, step, go }: ReplyProps): VNode {
  const { text, refusal, missing, stop, calls, sources } = reply;
  return (
    <>
      <p class="help">
        {`${words(stop)} `}
        {reply.step !== step && (
          <button type="button" class="link" onClick={() => go(reply.step)}>
            {`Received in step ${reply.step}`}
          </button>
        )}
      </p>
      {missing !== undefined && <p class="notice stopped">{missing}</p>}
      {text !== undefined && <InertBlock text={text} />}
      {refusal !== undefined && <InertBlock text={refusal} />}
      <Sources sources={sources as readonly Source[] | undefined} />
      {calls.map(({ id, tool, args }) => (
        <div class="call" key={id}>
          <span class="call-tool">
            <InertLine text={tool} max={128} />
          </span>
          <Exact title="Arguments" value={args} />
        </div>
      ))}
    </>
  );
}
