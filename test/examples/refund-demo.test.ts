/**
 * The demo as a newcomer runs it, compiled, against a real server. HOLDFAST_WHOLE=1: also the one of two demos without a
 * payment that is not drawn; HOLDFAST_SEED: of the draw.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { endExample, startExample, type StartedExample } from './started-example.js';

// A first run may have to build the server.
const LIMIT_MS = 600_000;

describe('the refund demo', () => {
  let folder: string;
  const demos: StartedExample[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  });
  afterEach(async () => {
    for (const demo of demos.splice(0)) await endExample(demo);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  function start(args: readonly string[] = ['--yes']): StartedExample {
    const demo = startExample('refund', { folder, args, limitMs: LIMIT_MS });
    demos.push(demo);
    return demo;
  }

  function payments(): unknown[] {
    const books = new Sqlite(join(folder, '.holdfast/demo/shop.db'), { readonly: true });
    try {
      return books.prepare('SELECT orderId, amountCents FROM payments').all();
    } finally {
      books.close();
    }
  }

  function isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  test(
    'investigates, shows the approval card, pays once, answers, and leaves nothing running',
    async () => {
      const demo = start();
      const worker = Number((await demo.saw(/Holdfast worker +process (\d+)/))[1]);
      expect(await demo.exit()).toBe(0);
      const output = demo.output();
      for (const part of [
        /scripted, on loopback, because ANTHROPIC_API_KEY is not set/,
        /Temporal UI +http:\/\/127\.0\.0\.1:\d+/,
        /read_order ok/,
        /read_delivery_status ok/,
        /search_refund_policy ok/,
        /Approval wanted: payments\.issue_refund@1/,
        /"amountCents": 8950/,
        /refund-manager/,
        /expires +\d{4}-\d\d-\d\d/,
        /demo-approver \(refund-manager\) approves/,
        /payments\.issue_refund ok/,
        /Outcome +paid/,
        /Payments +1 in the shop's books for O-104/,
        /Spent +\$0\.0\d+/,
        /npx holdfast show refund-O-104-\w+\.payment/,
      ]) {
        expect(output).toMatch(part);
      }
      expect(payments()).toEqual([{ orderId: 'O-104', amountCents: 8950 }]);
      expect(isAlive(worker)).toBe(false);
    },
    LIMIT_MS,
  );

  test(
    'pays once when the worker is killed on the way, and runs once at a time',
    async () => {
      const demo = start();
      const worker = Number((await demo.saw(/Holdfast worker +process (\d+)/))[1]);
      const second = start();
      await demo.saw(/Agent run \S+\.payment/);
      process.kill(worker, 'SIGKILL');
      await demo.saw(/process \d+, is gone/);
      expect(await second.exit()).toBe(1);
      expect(second.output()).toMatch(/The demo is running here already/);
      expect(await demo.exit()).toBe(0);
      expect(demo.output()).toMatch(/Outcome +paid/);
      expect(payments()).toEqual([{ orderId: 'O-104', amountCents: 8950 }]);
    },
    LIMIT_MS,
  );

  const unpaid = [
    {
      does: 'approves nothing where nobody can be asked, unless it is told to',
      args: [],
      code: 1,
      shown: /Approval wanted[^]*There is no terminal[^]*has approved nothing\.[^]*--yes/,
      hidden: /approves\.|Outcome +paid/,
    },
    {
      does: 'asks nobody about a refund that the policy denies',
      args: ['--yes', '--order', 'O-105'],
      code: 0,
      shown: /Refunds above 500 USD are never paid by an agent/,
      hidden: /Approval wanted/,
    },
  ];
  test.each(WHOLE ? unpaid : drawn(unpaid, 1, SEED))(
    '$does',
    async ({ does, args, code, shown, hidden }) => {
      saySeed(`a demo that ${does}`);
      const demo = start(args);
      expect(await demo.exit()).toBe(code);
      expect(demo.output()).toMatch(shown);
      expect(demo.output()).not.toMatch(hidden);
      expect(payments()).toEqual([]);
    },
    LIMIT_MS,
  );

  test('says how it is used', async () => {
    const demo = start(['--order', 'shoes']);
    expect(await demo.exit()).toBe(1);
    expect(demo.output()).toMatch(/An order number looks like O-104\.\nUse: npm start/);
  });
});
