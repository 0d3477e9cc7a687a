/** A run after one of its steps: what was decided and why, how it stood, what the model saw, what came next. */
import type { ComponentChildren, VNode } from 'preact';
import type { Moment } from '../data/api-types.js';
import { Exact } from '../parts/folded.js';
import { Fact } from '../parts/fact.js';
import { cost, plural, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { StatusBadge } from '../parts/status-badge.js';
import { ReplyShown } from './reply.js';
import { RequestShown } from './request.js';

export interface MomentProps {
  readonly moment: Moment;
  readonly go: (step: number) => void;
}

export function MomentShown({ moment, go }: MomentProps): VNode {
  const { step, calls, reply, answered, next, state } = moment;
  const asked = (part: 'request' | 'answered'): VNode | undefined => {
    const one = moment[part];
    return (
      one && (
        <Part title={`Seen by the model: request ${one.call}`}>
          <RequestShown request={one} moment={moment} part={part} go={go} />
        </Part>
      )
    );
  };
  const newest = asked('request');
  return (
    <>
      <Part title={`Step ${step}`}>
        <Decided decision={moment} />
      </Part>
      <Part title="After it">
        <Standing moment={moment} />
        {calls.map(({ id, tool, args, stage }) => (
          <div class="call" key={id}>
            <span class="call-tool">
              <InertLine text={tool} max={128} />
            </span>{' '}
            <span class="help">{words(stage)}</span>
            <Exact title="Arguments" value={args} />
          </div>
        ))}
      </Part>
      {answered === undefined ? newest : asked('answered')}
      {reply !== undefined && (
        <Part title={reply.call === undefined ? 'Reply' : `Reply to request ${reply.call}`}>
          <ReplyShown reply={reply} step={step} go={go} />
        </Part>
      )}
      {answered !== undefined && newest}
      <Part title={next === undefined ? 'This is the last step' : `Next: step ${next.step}`}>
        {next !== undefined && <Decided decision={next} />}
      </Part>
      <Exact title="The whole state after this step" value={state} />
    </>
  );
}

function Part(props: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <section class="panel moment-part" aria-label={props.title}>
      <h3>{props.title}</h3>
      {props.children}
    </section>
  );
}

type Decision = Pick<Moment, 'inputs' | 'rules' | 'why' | 'effects'>;

function Decided({
  decision: { inputs, rules, why, effects },
}: {
  readonly decision: Decision;
}): VNode {
  const said = new Map(rules.map(({ rule, says }) => [rule, says]));
  return (
    <dl class="facts">
      {inputs.map(({ type, id }, place) => (
        <Fact key={place} name="Received">
          {words(type)} {id !== undefined && <InertLine text={`of ${id}`} max={128} />}
        </Fact>
      ))}
      {[...said].map(([rule, says = '']) => (
        <Fact key={rule} name="Rule">
          <b>
            <InertLine text={rule} max={100} />
          </b>{' '}
          <span class="help">{says}</span>
        </Fact>
      ))}
      {why.map((one, place) => (
        <Fact key={place} name="Why">
          <InertLine text={one.words} max={600} />
        </Fact>
      ))}
      {effects.map(({ kind, summary }, place) => (
        <Fact key={place} name="Began">
          {words(kind)} <InertLine text={summary} max={300} />
        </Fact>
      ))}
    </dl>
  );
}

interface Money {
  readonly counters?: {
    readonly costMicroUsd: number;
    readonly turnCount: number;
    readonly modelCalls: number;
    readonly toolCalls: number;
  };
  readonly reservedMicroUsd?: number;
  readonly phase?: string;
}

function Standing({ moment: { view } }: Pick<MomentProps, 'moment'>): VNode {
  const { status, asks, inFlight } = view;
  // A run has them, a goal has others.
  const { counters, reservedMicroUsd = 0, phase } = view as Money;
  return (
    <dl class="facts">
      <Fact name="Status">
        <StatusBadge status={status} /> {phase !== undefined && words(phase)}
      </Fact>
      {counters !== undefined && (
        <>
          <Fact name="Money">{`${cost(counters.costMicroUsd)} spent, ${cost(reservedMicroUsd)} reserved`}</Fact>
          <Fact name="Counts">
            {`${plural(counters.turnCount, 'turn')}, ${plural(counters.modelCalls, 'model call')}, ${plural(counters.toolCalls, 'tool call')}`}
          </Fact>
        </>
      )}
      {asks.map(({ askId, kind, question, tool }) => (
        <Fact key={askId} name="Question">
          {words(kind)} <InertLine text={question ?? tool ?? askId} max={300} />
        </Fact>
      ))}
      {inFlight.map(({ id, kind }) => (
        <Fact key={id} name="In flight">
          {words(kind)} <InertLine text={id} max={128} />
        </Fact>
      ))}
      {asks.length === 0 && <Fact name="Questions">none open</Fact>}
      {inFlight.length === 0 && <Fact name="In flight">nothing</Fact>}
    </dl>
  );
}
