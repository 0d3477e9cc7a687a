import type { Input } from '../../core/input.js';
import { createInbox } from '../../workflows/inbox.js';

const SIGNAL: Input = { type: 'interrupt', at: 1 };
const TIMER: Input = { type: 'timer_fired', id: 'timer-1', at: 1 };

describe('the inbox of a run', () => {
  it('wakes the loop after what Temporal delivered together with a signal', async () => {
    const inbox = createInbox();
    const woken = inbox.arrival();
    // One activation: the signal's handler runs at once, the outcome comes over a promise or two.
    inbox.putFromOutside(SIGNAL);
    void Promise.resolve()
      .then(() => undefined)
      .then(() => inbox.put(TIMER));
    await woken;
    expect(inbox.takeAll()).toEqual([SIGNAL, TIMER]);
  });

  it('wakes the loop at once for what is there already', async () => {
    const inbox = createInbox();
    inbox.putFromOutside(SIGNAL);
    await inbox.arrival();
    expect(inbox.takeAll()).toEqual([SIGNAL]);
    expect(inbox.isEmpty()).toBe(true);
  });
});
