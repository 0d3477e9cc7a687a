/** The inbox: what waits for a person, beside the one that is looked at. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { AskPane } from '../card/ask-pane.js';
import type { ListedAsk, Person } from '../data/api-types.js';
import { inboxPath } from '../parts/paths.js';
import { useTitle } from '../parts/use-title.js';
import { arranged } from './arranged.js';
import { InboxList } from './inbox-list.js';
import { useInbox } from './use-inbox.js';

export interface InboxViewProps {
  readonly me: Person;
  /** Undefined: none is looked at. */
  readonly askId: string | undefined;
}

export function InboxView({ me, askId }: InboxViewProps): VNode {
  const inbox = useInbox();
  const { asks: known, filters } = inbox;
  const asks = useMemo(() => arranged(known, filters, me), [known, filters, me]);
  const next = useNext(asks, askId);
  useNextKey(next);
  return (
    <div class={askId === undefined ? 'inbox' : 'inbox has-detail'}>
      <InboxList inbox={inbox} asks={asks} selected={askId} />
      <section class="inbox-detail" aria-label="The question">
        {askId === undefined ? (
          <NothingSelected />
        ) : (
          <AskPane key={askId} askId={askId} me={me} changed={inbox.soon} next={next} />
        )}
      </section>
    </div>
  );
}

/** The address of the question after this one, as the list stands; one that has left the list was where it was. */
function useNext(asks: readonly ListedAsk[], askId: string | undefined): string | undefined {
  const place = useRef(0);
  const here = asks.findIndex((ask) => ask.askId === askId);
  if (here >= 0) place.current = here;
  const others = asks.filter((ask) => ask.askId !== askId);
  const next = others[place.current] ?? others[0];
  return next === undefined || askId === undefined ? undefined : inboxPath(next.askId);
}

/** `n` goes on to the next question. */
function useNextKey(next: string | undefined): void {
  useEffect(() => {
    const take = (event: KeyboardEvent): void => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const { target } = event;
      const isTyping = target instanceof Element && target.closest('input, textarea, select');
      if (event.key !== 'n' || !isPlain || isTyping) return;
      document.querySelector<HTMLAnchorElement>('a.next')?.click();
    };
    document.addEventListener('keydown', take);
    return () => document.removeEventListener('keydown', take);
  }, [next]);
}

function NothingSelected(): VNode {
  useTitle('Inbox');
  return (
    <div class="empty quiet">
      <p>Choose a question to see exactly what would happen.</p>
      <p class="help">
        <kbd>/</kbd> search <kbd>↑</kbd> <kbd>↓</kbd> move <kbd>n</kbd> next <kbd>Esc</kbd> back
        from a form <kbd>Ctrl</kbd>+<kbd>Enter</kbd> send
      </p>
    </div>
  );
}
