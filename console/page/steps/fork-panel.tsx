/** A fork of the run from the step that is looked at: what to change, how it would go, and then the fork itself. */
import type { RefObject, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { pathOf, postSlow } from '../data/api.js';
import type { DryFork, ForkStarted } from '../data/api-types.js';
import { usePosting } from '../data/use-posting.js';
import { Button } from '../parts/button.js';
import { Exact } from '../parts/folded.js';
import { Fact } from '../parts/fact.js';
import { cost, plural, words } from '../parts/format.js';
import { Form, textIn } from '../parts/form.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { runPath } from '../parts/paths.js';
import { useFocusOnChange } from '../parts/use-focus.js';
import { Outcome, useAct } from '../parts/use-act.js';

export interface ForkPanelProps {
  readonly runId: string;
  readonly step: number;
}

interface Draft {
  readonly model: string;
  readonly instructions: string;
  readonly message: string;
}

const NOTHING: Draft = { model: '', instructions: '', message: '' };

export function ForkPanel({ runId, step }: ForkPanelProps): VNode {
  const [draft, setDraft] = useState(NOTHING);
  return (
    <details class="controls">
      <summary>{`Fork the run after step ${step} …`}</summary>
      <p class="help">
        A fork is a new run that begins from the state after this step. First it is played without
        effects; the model is asked in earnest, and costs what it costs.
      </p>
      <Fields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
      <Played key={JSON.stringify([step, draft])} runId={runId} step={step} draft={draft} />
    </details>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

function Fields({ draft: { model, instructions, message }, change }: FieldsProps): VNode {
  return (
    <Form class="message-form" label="Changes of the fork" submit={() => {}}>
      <label for="fork-message">Words of the user before the next request</label>
      <textarea
        id="fork-message"
        rows={2}
        maxLength={32_000}
        value={message}
        onInput={(event) => change({ message: textIn(event) })}
      />
      <label for="fork-instructions">Instructions in place of those of the agent</label>
      <textarea
        id="fork-instructions"
        rows={2}
        maxLength={32_000}
        value={instructions}
        onInput={(event) => change({ instructions: textIn(event) })}
      />
      <label for="fork-model">The model that goes on</label>
      <input
        id="fork-model"
        maxLength={200}
        placeholder="as recorded"
        value={model}
        onInput={(event) => change({ model: textIn(event) })}
      />
    </Form>
  );
}

interface PlayedProps extends ForkPanelProps {
  readonly draft: Draft;
}

/** Of one wording of the changes: another one is played anew before it is started. */
function Played({ runId, step, draft }: PlayedProps): VNode {
  const [dry, setDry] = useState<DryFork | undefined>(undefined);
  const [isAsked, setAsked] = useState(false);
  const [started, setStarted] = useState<string | undefined>(undefined);
  const { said, fault, say, act } = useAct();
  const post = usePosting();
  const path = pathOf('runs', runId, 'forks');
  const body = bodyOf(step, draft);
  const play = async (): Promise<void> => {
    await act(async () => {
      say('The fork is being played …');
      setDry(await postSlow<DryFork>(`${path}/dry`, body));
    });
  };
  const start = async (): Promise<void> => {
    await act(async () => {
      const { runId: fork } = await post<ForkStarted>(path, body);
      setStarted(fork);
    }, 'The fork is started.');
    setAsked(false);
  };
  const place = useNextChoice(`${started} ${isAsked}`);
  return (
    <div ref={place}>
      {dry !== undefined && <DryShown dry={dry} />}
      {started === undefined && !isAsked && (
        <div class="choices">
          <Button
            label={dry === undefined ? 'Play it without effects' : 'Play it again'}
            press={play}
          />
          {dry !== undefined && (
            <Button label="Start the fork …" kind="danger" press={() => setAsked(true)} />
          )}
        </div>
      )}
      {isAsked && (
        <>
          <p>
            A new run begins, and its effects happen. A call that this run, or another fork of it,
            did before asks a person first.
          </p>
          <div class="choices">
            <Button label="Start it" kind="danger" press={start} />
            <Button label="Back" press={() => setAsked(false)} />
          </div>
        </>
      )}
      {started !== undefined && (
        <p>
          <a class="fork-link" href={runPath(started)}>
            The fork <InertLine text={started} max={80} />
          </a>
        </p>
      )}
      <Outcome said={said} fault={fault} />
    </div>
  );
}

/** Whoever has chosen is at what follows from it. */
function useNextChoice(value: string): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  useFocusOnChange(value, () =>
    place.current?.querySelector<HTMLElement>('.choices button, .fork-link'),
  );
  return place;
}

function bodyOf(step: number, draft: Draft): object {
  const written = Object.entries(draft)
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([, text]) => text !== '');
  return { step, ...Object.fromEntries(written) };
}

function DryShown({ dry }: { readonly dry: DryFork }): VNode {
  const { stopReason, detail, answer, waitsFor, wouldExecute, reads, turns, leftOut } = dry;
  return (
    <section class="panel moment-part" aria-label="Played without effects">
      <h3>Played without effects</h3>
      <dl class="facts">
        <Fact name="Ended">
          {waitsFor === undefined
            ? words(stopReason)
            : 'before a question that only a person answers'}{' '}
          <InertLine text={waitsFor?.question ?? waitsFor?.tool ?? detail ?? ''} max={300} />
        </Fact>
        <Fact name="Cost">{`${cost(dry.costMicroUsd)}, ${plural(turns, 'turn')}`}</Fact>
        {wouldExecute.map(({ tool, callId, args, asks, repeats }) => (
          <Fact key={callId} name="Would execute">
            <InertLine text={tool} max={128} />
            {asks && ', a person is asked first'}
            {repeats !== undefined && `, repeats step ${repeats.step} and asks for that`}
            <Exact title="Arguments" value={args} />
          </Fact>
        ))}
        {wouldExecute.length === 0 && <Fact name="Would execute">nothing</Fact>}
        {reads.map(({ tool, callId, from }) => (
          <Fact key={callId} name="Read">
            <InertLine text={tool} max={128} /> {`from ${words(from)}`}
          </Fact>
        ))}
        {leftOut.map((line) => (
          <Fact key={line} name="Left out">
            <InertLine text={line} max={300} />
          </Fact>
        ))}
      </dl>
      {answer !== undefined && <InertBlock text={answer} />}
    </section>
  );
}
