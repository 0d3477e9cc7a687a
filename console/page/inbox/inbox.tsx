/** The inbox: what waits for a person, beside the one that is looked at. */
import type { VNode } from 'preact';
import { AskPane } from '../card/ask-pane.js';
import type { Person } from '../data/api-types.js';
import { useTitle } from '../parts/use-title.js';
import { InboxList } from './inbox-list.js';
import { useInbox } from './use-inbox.js';

export interface InboxViewProps {
  readonly me: Person;
  /** Undefined: none is looked at. */
  readonly askId: string | undefined;
}

export function InboxView({ me, askId }: InboxViewProps): VNode {
  const inbox = useInbox();
  return (
    <div class={askId === undefined ? 'inbox' : 'inbox has-detail'}>
      <InboxList inbox={inbox} selected={askId} />
      <section class="inbox-detail" aria-label="The question">
        {askId === undefined ? (
          <NothingSelected />
        ) : (
          <AskPane key={askId} askId={askId} me={me} changed={inbox.soon} />
        )}
      </section>
    </div>
  );
}

function NothingSelected(): VNode {
  useTitle('Inbox');
  return (
    <div class="empty quiet">
      <p>Choose a question to see exactly what would happen.</p>
      <p class="help">
        <kbd>/</kbd> search <kbd>↑</kbd> <kbd>↓</kbd> move
      </p>
    </div>
  );
}
