import type { Link } from '../../../client/link.js';
import { conversations } from '../../../client/read/conversations.js';

/** A run of the rules before names, of which a row and events are stored. */
function linkTo(rules: number): Link {
  const word = (seq: number) => ({ type: 'user_message', messageId: `r:m${seq}`, stamp: { seq } });
  const events = [word(3), word(7)];
  const store = {
    lastMessageOf: async () => ({ runId: 'r', seq: 3, messageId: 'r:m3' }),
    getRun: async () => ({ rules }),
    readEvents: async (_: object, { sinceSeq }: { readonly sinceSeq: number }) => ({
      events: events.filter(({ stamp }) => stamp.seq >= sinceSeq),
      nextSeq: 8,
      epoch: 0,
    }),
    watchEvents: () => ({ stop: () => undefined }),
  };
  return { tenant: 't', store } as unknown as Link;
}

test('A message that a worker of an older release stored behind a known one is the newest.', async () => {
  expect(await conversations(linkTo(18)).last('r')).toMatchObject({ seq: 7 });
  expect(await conversations(linkTo(18)).last('r', 5)).toMatchObject({ seq: 3 });
});
