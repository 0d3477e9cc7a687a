/** Webhooks are told of questions: once each, through crashes, refusals and closings, by any number of consoles. */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../console/notify/message.js';
import {
  startNotifier,
  type Notifier,
  type NotifierSettings,
} from '../../console/notify/notifier.js';
import { NOTICE_AGE_MS_MAX } from '../../pure/notice.js';
import { LIST_ROWS_MAX } from '../../store/bounds.js';
import type { AskRow } from '../../store/asks.js';
import type { Notice } from '../../store/notices.js';
import type { Store } from '../../store/store.js';
import { postgresBinaries } from '../postgres-server.js';
import {
  askView,
  cleanUp,
  eventsFrom,
  newStore,
  SESSION_INIT,
  useDatabase,
} from '../store/fixtures.js';
import { startReceiver, type Answer, type Receiver } from './webhook-receiver.js';
import { until } from '../until.js';

const SOURCE = { tenant: 'default', runId: 'r1', execution: 'e1' };
const HOUR_MS = 3_600_000;
const REFUSED = { status: 500 };

let store: Store;
let place: string;
let receiver: Receiver;
/** Times are those of this clock: tests move it instead of waiting. */
let now: number;
let log: string[];
let notifiers: Notifier[];

async function begin(): Promise<void> {
  [now, log, notifiers] = [1_750_000_000_000, [], []];
  ({ store, place } = await newStore());
  receiver = await startReceiver();
}

async function end(): Promise<void> {
  for (const notifier of notifiers) await notifier.stop();
  await receiver.close();
  await cleanUp();
}

async function ask(...askIds: readonly string[]): Promise<void> {
  const bodies = askIds.map(
    (askId) => ({ type: 'approval_requested', ...askView(askId) }) as const,
  );
  await store.appendEvents(SOURCE, eventsFrom(0, [SESSION_INIT, ...bodies]));
}

/** Nobody can move the clock of a database. */
const onTestClock = (): Store => ({ ...store, claimClock: async (at) => at });

function start(target: object = {}, over: Partial<NotifierSettings> = {}): Notifier {
  const { url } = receiver;
  const ops = { name: 'ops', url, secretVariable: 'S', secret: 'shh', format: 'json' as const };
  const notifier = startNotifier({
    store: onTestClock(),
    targets: [{ ...ops, ...target }],
    publicUrl: 'https://desk.example.org/',
    clock: () => now,
    say: (line) => log.push(line),
    everyMs: 5,
    ...over,
  });
  notifiers.push(notifier);
  return notifier;
}

const received = (count: number): Promise<void> => until(() => receiver.got.length >= count);
/** As long as several rounds take: whatever could come has come. */
const quiet = (): Promise<void> => sleep(150);
const askIds = (): readonly string[] => receiver.got.map(({ askId }) => askId);

async function noticeOf(askId = 'r1:0'): Promise<Notice | undefined> {
  const row = await store.getAsk('default', askId);
  return row && (await store.listNotices(row))[0];
}

const isSettled = async (askId?: string): Promise<boolean> => {
  const notice = await noticeOf(askId);
  return notice !== undefined && (notice.state !== 'waiting' || notice.nextAt > now);
};

function notifying(): void {
  beforeEach(begin);
  afterEach(end);

  test('a question is told once, signed, with a link to log in at; also after a restart', async () => {
    await ask('r1:0', 'r1:1');
    const notifier = start();
    await received(2);
    await notifier.stop();
    start();
    await quiet();
    expect(askIds()).toEqual(['r1:0', 'r1:1']);
    const [first] = receiver.got;
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': said } = first!.headers;
    const text = `${String(id)}.${String(at)}.${first!.body}`;
    expect(said).toBe(`v1,${createHmac('sha256', 'shh').update(text).digest('base64')}`);
    expect(JSON.parse(first!.body)).toMatchObject({
      askId: 'r1:0',
      link: 'https://desk.example.org/approvals/r1%3A0',
      tool: 'payments.issue_refund',
    });
    // The arguments are seen after logging in only.
    expect(first!.body).not.toContain('orderId');
  });

  test('consoles that run beside each other share the work, and tell each question once', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `r1:${index}`);
    await ask(...ids);
    const { store: other } = await newStore(place);
    start();
    start({}, { store: other });
    start({}, { store: other });
    await received(ids.length);
    await quiet();
    expect(askIds().toSorted()).toEqual(ids.toSorted());
  });

  test('it is tried again, as the same message, until it is taken; a redirect is not followed', async () => {
    const answers = [500, 302, 404];
    const headers = { location: receiver.url };
    receiver.answer = () => ({ status: answers.shift() ?? 200, headers });
    await ask('r1:0');
    start();
    for (let tries = 1; tries <= 3; tries += 1) {
      await received(tries);
      await until(isSettled);
      await quiet();
      expect(receiver.got).toHaveLength(tries);
      now += HOUR_MS;
    }
    await received(4);
    await until(async () => (await noticeOf())?.state === 'sent');
    now += HOUR_MS;
    await quiet();
    expect(receiver.got).toHaveLength(4);
    expect(new Set(receiver.got.map(({ headers: one }) => one['webhook-id'])).size).toBe(1);
    expect(log).toEqual([
      'Webhook ops does not take notices (status 500). They are tried again.',
      'Webhook ops takes notices again.',
    ]);
  });

  test('a console that is started anew goes on with the tries of the one before', async () => {
    const port = Number(new URL(receiver.url).port);
    await receiver.close();
    await ask('r1:0');
    const first = start();
    for (let tries = 1; tries <= 3; tries += 1) {
      await until(async () => (await noticeOf())?.tries === tries && (await isSettled()));
      now += HOUR_MS;
    }
    await first.stop();
    const before = await noticeOf();
    receiver = await startReceiver(port);
    start();
    await until(async () => (await noticeOf())?.state === 'sent');
    expect(await noticeOf()).toMatchObject({
      tries: before!.tries + 1,
      firstAt: before!.firstAt,
    });
    expect(askIds()).toEqual(['r1:0']);
  });

  test('what a console claimed that died before it sent is sent by another one, after its time', async () => {
    await ask('r1:0');
    await store.openNotices({ target: 'ops', at: now, limit: 9 });
    const [name] = await store.dueNotices({ target: 'ops', at: now, limit: 9 });
    await store.claimNotice(name!, { by: 'dead', at: now, until: now + 60_000 });
    start();
    now += 59_000;
    await quiet();
    expect(askIds()).toEqual([]);
    now += 1_000;
    await received(1);
    await until(async () => (await noticeOf())?.state === 'sent');
    await quiet();
    expect(askIds()).toEqual(['r1:0']);
    expect(await noticeOf()).toMatchObject({ tries: 2 });
  });

  test('a console that had to wait so long for its claim that another may soon have it sends nothing', async () => {
    await ask('r1:0');
    let held = 0;
    const slow: NotifierSettings['store'] = {
      ...onTestClock(),
      async claimNotice(name, claim) {
        const claimed = await store.claimNotice(name, claim);
        held += 1;
        now += 21_000;
        return claimed;
      },
    };
    const first = start({}, { store: slow });
    await until(() => held > 0);
    await first.stop();
    expect(askIds()).toEqual([]);
    now += 39_000;
    start();
    await received(1);
  });

  test('the answer 410 is the end of it, and is told', async () => {
    receiver.answer = () => ({ status: 410 });
    await ask('r1:0');
    start();
    await until(async () => (await noticeOf())?.state === 'given_up');
    now += 24 * HOUR_MS;
    await quiet();
    expect(receiver.got).toHaveLength(1);
    expect(await noticeOf()).toMatchObject({ tries: 1, fault: 'status 410' });
    expect(await store.countGivenUpNotices()).toBe(1);
    expect(log).toEqual(['Webhook ops was not told of r1:0: given up after 1 try, status 410.']);
  });

  test('in the end it is given up, and is told', async () => {
    receiver.answer = () => REFUSED;
    await ask('r1:0');
    start();
    await received(1);
    await until(isSettled);
    now += NOTICE_AGE_MS_MAX;
    await until(async () => (await noticeOf())?.state === 'given_up');
    now += NOTICE_AGE_MS_MAX;
    await quiet();
    expect(receiver.got).toHaveLength(2);
    expect(log.at(-1)).toBe(
      'Webhook ops was not told of r1:0: given up after 2 tries, status 500.',
    );
  });

  test.each([
    ['in seconds', () => '600'],
    ['as a date', () => new Date(now + 600_000).toUTCString()],
  ])('a receiver that asks for a pause %s hears nothing before', async (_how, header) => {
    const answers: Answer[] = [{ status: 429, headers: { 'retry-after': header() } }];
    receiver.answer = () => answers.shift() ?? { status: 200 };
    await ask('r1:0', 'r1:1', 'r1:2');
    start();
    await received(1);
    await until(isSettled);
    now += 599_000;
    await quiet();
    expect(askIds()).toEqual(['r1:0']);
    now += 1_000;
    await received(4);
    expect(askIds().slice(1).toSorted()).toEqual(['r1:0', 'r1:1', 'r1:2']);
  });

  test('a pause of years is an hour', async () => {
    const answers: Answer[] = [{ status: 503, headers: { 'retry-after': '999999999' } }];
    receiver.answer = () => answers.shift() ?? { status: 200 };
    await ask('r1:0');
    start();
    await received(1);
    await until(isSettled);
    now += HOUR_MS;
    await received(2);
  });

  test('a question that is closed meanwhile is not told any more', async () => {
    receiver.answer = () => REFUSED;
    await ask('r1:0');
    const before = start();
    await received(1);
    await until(isSettled);
    const outcome = { outcome: 'approved', by: ['mia'], waitedMs: 1 } as const;
    const closed = { type: 'approval_resolved', askId: 'r1:0', ...outcome } as const;
    await store.appendEvents(SOURCE, eventsFrom(2, [closed]));
    now += HOUR_MS;
    await quiet();
    expect(receiver.got).toHaveLength(1);
    await before.stop();
    // Rows of closed questions go when a console starts, and from then on every minute.
    start();
    await until(async () => (await noticeOf()) === undefined);
  });

  test('many that are refused keep back neither a new one nor another webhook', async () => {
    const bad = Array.from({ length: 70 }, (_, index) => `r1:bad${index}`);
    receiver.answer = ({ askId }) => (askId.includes('bad') ? REFUSED : { status: 200 });
    await ask(...bad, 'r1:good');
    let rounds = 0;
    const counted: NotifierSettings['store'] = {
      ...onTestClock(),
      dueNotices(wanted) {
        if (!askIds().includes('r1:good')) rounds += 1;
        return store.dueNotices(wanted);
      },
    };
    start({}, { store: counted, clock: () => (now += 10) });
    await until(() => askIds().includes('r1:good'));
    expect(rounds).toBeLessThan(4);
    const other = await startReceiver();
    receiver.answer = () => 'hang';
    const { store: second } = await newStore(place);
    start({ name: 'mail', url: other.url }, { store: second });
    await until(() => other.got.length === bad.length + 1);
    await other.close();
  });

  test('a console that ends lets a request under way end, and begins no other', async () => {
    let release: (answer: Answer) => void = () => undefined;
    const held = new Promise<Answer>((resolve) => (release = resolve));
    receiver.answer = () => held;
    await ask('r1:0', 'r1:1');
    const notifier = start();
    await received(1);
    const stopped = notifier.stop();
    release({ status: 200 });
    await stopped;
    expect(await noticeOf()).toMatchObject({ state: 'sent' });
    expect(askIds()).toEqual(['r1:0']);
  });

  test('what a console breaks off when it ends is no failure of the receiver', async () => {
    receiver.answer = () => 'hang';
    await ask('r1:0');
    const notifier = start();
    await received(1);
    await notifier.stop();
    const after = await noticeOf();
    expect(after).toMatchObject({ state: 'waiting', nextAt: now, tries: 1 });
    expect(after).not.toHaveProperty('fault');
    expect(log).toEqual([]);
    receiver.answer = () => ({ status: 200 });
    now += 60_000;
    start();
    await received(2);
  });

  test('closed questions that are more than one removal takes are removed in one turn', async () => {
    const removals = [LIST_ROWS_MAX, LIST_ROWS_MAX, 5];
    start(
      {},
      { store: { ...onTestClock(), removeClosedNotices: async () => removals.shift() ?? 0 } },
    );
    await until(() => removals.length === 0);
  });

  test('a target hears of its tenants only', async () => {
    await ask('r1:0');
    start({ tenants: ['other'] });
    await quiet();
    expect(receiver.got).toEqual([]);
  });

  test('what was opened before a target lost a tenant is not sent to it', async () => {
    await ask('r1:0');
    await store.openNotices({ target: 'ops', at: now, limit: 9 });
    start({ tenants: ['other'] });
    // A store that hands it out all the same.
    const lax: NotifierSettings['store'] = {
      ...onTestClock(),
      dueNotices: ({ target, at, limit }) => store.dueNotices({ target, at, limit }),
    };
    start({ tenants: ['other'] }, { store: lax });
    await quiet();
    expect(receiver.got).toEqual([]);
    expect(await noticeOf()).toMatchObject({ state: 'waiting', tries: 0 });
  });
}

describe('on SQLite', () => {
  beforeAll(() => useDatabase('sqlite'));
  notifying();
});

(postgresBinaries() === undefined ? describe.skip : describe)('on PostgreSQL', () => {
  beforeAll(() => useDatabase('postgres'));

  describe('consoles whose clocks differ by hours', () => {
    beforeEach(begin);
    afterEach(end);

    test('share the clock of the database: a claim is nobody else’s before it has run out', async () => {
      await ask('r1:0');
      // The one that claims is slow, and its own clock is behind by two hours.
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      receiver.answer = async () => {
        await released;
        return { status: 200 };
      };
      const [behind, ahead] = [-2, 2].map((hours) => () => Date.now() + hours * HOUR_MS);
      start({}, { store, clock: behind! });
      await received(1);
      start({}, { store, clock: ahead! });
      await quiet();
      release();
      await until(async () => (await noticeOf())?.state === 'sent');
      expect(askIds()).toEqual(['r1:0']);
      const { firstAt } = (await noticeOf())!;
      expect(Math.abs(firstAt - Date.now())).toBeLessThan(HOUR_MS);
    });
  });
  notifying();
});

test('a name from outside moves nothing in a message', () => {
  const row = {
    ...askView('r1:0'),
    tenant: 't',
    runId: 'r1',
    outcome: 'pending',
    by: [],
    tool: '<!channel>\u202e\n*pay*\u0007',
  } as AskRow;
  const slack = messageOf('slack', row, 'https://desk/') as { text: string };
  expect(slack.text).toContain('&lt;!channel&gt;');
  expect(JSON.stringify(slack)).not.toMatch(/\\u202e|\u202e|\\u0007|\\n\*/);
  const mail = messageOf('mail', row, 'https://desk/') as { subject: string };
  expect(mail.subject).not.toMatch(/[\n\r\u202e]/);
});
