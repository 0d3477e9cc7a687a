/** Workflows that do what no run does, to see what becomes of their worker. */
import {
  condition,
  defineSignal,
  log,
  proxySinks,
  setHandler,
  type Sinks,
} from '@temporalio/workflow';

export interface NoteSinks extends Sinks {
  readonly notes: { note(text: string): void };
}

const { notes } = proxySinks<NoteSinks>();
const go = defineSignal('go');

/** Answers when it has been told to go on. */
export async function waits(): Promise<string> {
  let going = false;
  setHandler(go, () => {
    going = true;
  });
  notes.note('waits');
  await condition(() => going);
  notes.note('goes on');
  log.info('went on');
  return 'done';
}

/** Never comes back from its decision once it has been told to go on. */
export async function spins(): Promise<void> {
  let going = false;
  setHandler(go, () => {
    going = true;
  });
  await condition(() => going);
  for (;;);
}

/** Never comes back from hearing that it should go on. */
export async function spinsAtOnce(): Promise<void> {
  setHandler(go, () => {
    for (;;);
  });
  await condition(() => false);
}

/** Leaves a promise behind that fails. */
export async function forgets(): Promise<void> {
  void Promise.reject(new Error('nobody waits for this'));
  await condition(() => false);
}
