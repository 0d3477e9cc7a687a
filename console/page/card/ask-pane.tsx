/**
 * The question that is looked at, with its decision: what is fixed is drawn once, what changes (time left, votes,
 * outcome) changes in its own places, so that nothing moves under somebody's finger.
 */
import type { RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { wordsOf } from '../data/api.js';
import type { Person } from '../data/api-types.js';
import { DecisionPanel } from '../decide/decision-panel.js';
import { may } from '../parts/rights.js';
import { useTitle } from '../parts/use-title.js';
import { AskCard } from './ask-card.js';
import { ReceiptSection } from './receipt.js';
import { CHANGED, DROPPED, useAsk, useGrounds, type Version } from './use-ask.js';

export interface AskPaneProps {
  readonly askId: string;
  readonly me: Person;
  /** Something was decided here. */
  readonly changed: () => void;
  /** Address of the question after it. */
  readonly next: string | undefined;
}

export function AskPane({ askId, me, changed, next }: AskPaneProps): VNode {
  const begun = useRef(false);
  const { version, refusal, soon } = useAsk(askId, () => begun.current);
  const decided = (): void => {
    soon();
    changed();
  };
  if (version !== undefined) {
    return (
      <AskShown
        key={version.number}
        version={version}
        me={me}
        changed={decided}
        next={next}
        told={(isBegun) => (begun.current = isBegun)}
      />
    );
  }
  if (refusal !== undefined) {
    return (
      <div class="empty quiet">
        <p>{wordsOf(refusal)}</p>
        <p>
          <a href="/">Back to the inbox</a>
        </p>
      </div>
    );
  }
  return (
    <p class="empty quiet" role="status">
      Fetching the question …
    </p>
  );
}

interface AskShownProps {
  readonly version: Version;
  readonly me: Person;
  readonly changed: () => void;
  readonly next: string | undefined;
  readonly told: (isBegun: boolean) => void;
}

function AskShown({ version, me, changed, next, told }: AskShownProps): VNode {
  const { ask, number, isDropped } = version;
  const [first] = useState(ask);
  const isGrounded = first.kind !== 'input' || may(me, 'read');
  const grounds = useGrounds(first.askId, isGrounded);
  const pane = useRef<HTMLDivElement>(null);
  useTitle(first.tool ?? 'Question');
  useArrival(pane, number > 0);
  return (
    <div class="ask" ref={pane}>
      {number > 0 && (
        <p class="alarm-box">
          {`${CHANGED} Look at it anew before you decide.`}
          {isDropped && ` ${DROPPED}`}
        </p>
      )}
      <AskCard first={first} ask={ask} me={me} grounds={grounds} next={next} />
      <DecisionPanel
        ask={ask}
        me={me}
        grounds={grounds}
        changed={changed}
        told={told}
        receipt={<ReceiptSection ask={ask} />}
      />
    </div>
  );
}

/** Reading begins at the title. Who writes elsewhere on the page when a question changes goes on writing there. */
function useArrival(pane: RefObject<HTMLElement | null>, isAnew: boolean): void {
  useLayoutEffect(() => {
    pane.current?.closest('.inbox-detail')?.scrollTo(0, 0);
    const at = document.activeElement;
    const isElsewhere = at !== null && at !== document.body && !pane.current?.contains(at);
    if (isAnew && isElsewhere) return;
    pane.current?.querySelector('h2')?.focus({ preventScroll: true });
  }, []);
}
