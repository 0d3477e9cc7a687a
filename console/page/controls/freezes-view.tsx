/** What is frozen, by whom and why: freezing, lifting, and what was frozen before. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { get, newKey, pathOf, post } from '../data/api.js';
import type { Freeze, Person } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import { dateTime } from '../parts/format.js';
import { freezeScope } from '../parts/freeze-words.js';
import { InertLine } from '../parts/inert.js';
import { may } from '../parts/rights.js';
import { Outcome, useAct, type Act } from '../parts/use-act.js';
import { useFocusOnChange, useFocusWhenLost } from '../parts/use-focus.js';
import { useTitle } from '../parts/use-title.js';
import { FreezeForm, type WantedFreeze } from './freeze-form.js';

const LOOK_MS = 5_000;
const PAST_SHOWN = 50;

export function FreezesView({ me }: { readonly me: Person }): VNode {
  useTitle('Freezes');
  const { freezes, soon } = useFreezes();
  const { said, fault, complain, act } = useAct(soon);
  const mayFreeze = may(me, 'freeze');
  const title = useRef<HTMLHeadingElement>(null);
  useFocusWhenLost(freezes, () => title.current);
  return (
    <section class="controls-view" aria-label="Freezes">
      <header class="page-head">
        <h1 tabIndex={-1} ref={title}>
          Freezes
        </h1>
        <p class="help">While a freeze is in force nothing that it covers starts, in any run.</p>
      </header>
      <Outcome said={said} fault={fault} />
      {mayFreeze ? (
        <FreezeForm
          freeze={(wanted: WantedFreeze) =>
            act(() => post('/v1/freezes', wanted, newKey()), 'Frozen.')
          }
          complain={complain}
        />
      ) : (
        <p class="help">Freezing and lifting are for other roles than yours.</p>
      )}
      {freezes !== undefined && <FreezeLists freezes={freezes} act={act} mayLift={mayFreeze} />}
    </section>
  );
}

function useFreezes(): { readonly freezes?: readonly Freeze[]; readonly soon: () => void } {
  const [freezes, setFreezes] = useState<readonly Freeze[]>();
  const { soon } = usePoll(
    async (signal) => {
      const path = '/v1/freezes?state=all';
      const { items } = await get<{ readonly items: readonly Freeze[] }>(path, signal);
      setFreezes(items);
    },
    { everyMs: LOOK_MS, name: 'freezes' },
  );
  return { ...(freezes !== undefined && { freezes }), soon };
}

interface FreezeListsProps {
  readonly freezes: readonly Freeze[];
  readonly act: Act;
  readonly mayLift: boolean;
}

function FreezeLists({ freezes, act, mayLift }: FreezeListsProps): VNode {
  const inForce = freezes.filter((freeze) => freeze.inForce);
  const past = freezes.filter((freeze) => !freeze.inForce).slice(0, PAST_SHOWN);
  const lift = ({ id }: Freeze, reason: string): Promise<boolean> => {
    const body = reason === '' ? {} : { reason };
    return act(() => post(pathOf('freezes', id, 'lift'), body), 'Lifted.');
  };
  return (
    <>
      <h2>In force</h2>
      {inForce.length === 0 && <p class="help">Nothing is frozen.</p>}
      <ul class="freeze-list" aria-label="In force">
        {inForce.map((freeze) => (
          <FreezeInForce
            key={freeze.id}
            freeze={freeze}
            {...(mayLift && { lift: (reason: string) => lift(freeze, reason) })}
          />
        ))}
      </ul>
      <h2>Before</h2>
      {past.length === 0 && <p class="help">Nothing was frozen before.</p>}
      <ul class="freeze-list" aria-label="Before">
        {past.map((freeze) => (
          <li key={freeze.id} class="panel">
            <FreezeWords freeze={freeze} />
            <Lifted freeze={freeze} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface FreezeInForceProps {
  readonly freeze: Freeze;
  /** Absent: it is for others to lift. */
  readonly lift?: (reason: string) => Promise<boolean>;
}

function FreezeInForce({ freeze, lift }: FreezeInForceProps): VNode {
  return (
    <li class="panel">
      <FreezeWords freeze={freeze} />
      {lift !== undefined && <Lift freeze={freeze} lift={lift} />}
    </li>
  );
}

function Lift({ freeze, lift }: Required<FreezeInForceProps>): VNode {
  const [isLifting, setLifting] = useState(false);
  const [reason, setReason] = useState('');
  const place = useRef<HTMLDivElement>(null);
  useFocusOnChange(isLifting, () => place.current?.querySelector<HTMLElement>('input, button'));
  const form = (
    <Form class="lift" label="Lift the freeze" submit={() => void lift(reason.trim())}>
      <label for={`lift-${freeze.id}`}>Why is it lifted? (optional)</label>
      <input
        id={`lift-${freeze.id}`}
        type="text"
        maxLength={300}
        autocomplete="off"
        value={reason}
        onInput={(event) => setReason(textIn(event))}
      />
      <div class="choices">
        <button type="submit" class="button primary">
          Lift it
        </button>
        <Button label="Back" press={() => setLifting(false)} />
      </div>
    </Form>
  );
  return (
    <div ref={place}>
      {isLifting ? form : <Button label="Lift …" press={() => setLifting(true)} />}
    </div>
  );
}

function FreezeWords({ freeze }: { readonly freeze: Freeze }): VNode {
  const { scope, by, reason, at, until, id } = freeze;
  return (
    <p>
      <b>{freezeScope(scope)}</b>
      {': '}
      <InertLine text={reason} max={300} />
      <span class="help">
        {' Frozen by '}
        <InertLine text={by} max={100} />
        {`, ${dateTime(at)}${until === undefined ? '' : `, until ${dateTime(until)}`}. `}
        <code>{id}</code>
      </span>
    </p>
  );
}

function Lifted({ freeze: { lifted, until } }: { readonly freeze: Freeze }): VNode {
  if (lifted === undefined) {
    return (
      <p class="help">{`Ended by itself${until === undefined ? '' : `, ${dateTime(until)}`}.`}</p>
    );
  }
  return (
    <p class="help">
      Lifted by <InertLine text={lifted.by} max={100} />
      {`, ${dateTime(lifted.at)}`}
      {lifted.reason !== undefined && (
        <>
          : <InertLine text={lifted.reason} max={300} />
        </>
      )}
      .
    </p>
  );
}
