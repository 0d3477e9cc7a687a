import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type * as Services from '../../examples/refund/demo/service';
import { compiled, compiledPath } from '../compiled';

const { startService } = compiled<typeof Services>('examples/refund/demo/service.ts');

const REFUND = { orderId: 'O-104', amountCents: 8950, reason: 'late' };

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

describe('the shop', () => {
  let folder: string;
  let shop: Services.Service;
  let url: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-shop-'));
    await open();
  });
  afterEach(async () => {
    await shop.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(): Promise<void> {
    shop = await startService({
      name: 'shop',
      entry: compiledPath(join(__dirname, '../../examples/refund/shop/main.ts')).replace(
        /\.js$/,
        '',
      ),
      args: ['--database', join(folder, 'shop.db')],
      environment: process.env,
    });
    url = (shop.ready as { url: string }).url;
  }

  async function get(path: string): Promise<Reply> {
    const response = await fetch(`${url}${path}`);
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }

  async function pay(key: string | undefined, body: unknown): Promise<Reply> {
    const response = await fetch(`${url}/refunds`, {
      method: 'POST',
      headers: key === undefined ? {} : { 'idempotency-key': key },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }

  async function payments(orderId: string): Promise<Record<string, unknown>[]> {
    return (await get(`/refunds?order=${orderId}`)).body['refunds'] as Record<string, unknown>[];
  }

  test('pays a key once, however often and however concurrently it is asked', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => pay('run:3', REFUND)));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(replies.filter(({ body }) => body['replayed'] === false)).toHaveLength(1);
    expect(new Set(replies.map(({ body }) => body['refundId'])).size).toBe(1);
    expect(await payments('O-104')).toMatchObject([{ ...REFUND, key: 'run:3' }]);
  });

  test('refuses a key that belongs to another refund', async () => {
    await pay('run:3', REFUND);
    const other = await pay('run:3', { ...REFUND, amountCents: 100 });
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'key_conflict' } } });
    expect((await pay('run:3', { ...REFUND, orderId: 'O-102' })).status).toBe(409);
    expect(await payments('O-104')).toHaveLength(1);
    expect(await payments('O-102')).toEqual([]);
  });

  test('says afterwards whether a key paid', async () => {
    expect((await get('/refunds?key=run:3')).body).toEqual({ refund: null });
    await pay('run:3', REFUND);
    expect((await get('/refunds?key=run:3')).body).toMatchObject({ refund: REFUND });
  });

  test('never refunds more than the order cost', async () => {
    expect((await pay('run:1', { ...REFUND, amountCents: 8951 })).status).toBe(422);
    expect((await pay('run:2', { ...REFUND, amountCents: 8000 })).status).toBe(200);
    expect((await pay('run:3', { ...REFUND, amountCents: 951 })).status).toBe(422);
    expect((await pay('run:4', { ...REFUND, amountCents: 950 })).status).toBe(200);
  });

  test.each([
    ['no key', undefined, REFUND, 400],
    ['no JSON', 'k', 'pay me', 400],
    ['no amount', 'k', { orderId: 'O-104', reason: 'late' }, 400],
    ['a negative amount', 'k', { ...REFUND, amountCents: -1 }, 400],
    ['an unknown order', 'k', { ...REFUND, orderId: 'O-999' }, 404],
    ['a body that is too large', 'k', { ...REFUND, reason: 'x'.repeat(20_000) }, 413],
  ])('refuses %s and pays nothing', async (...[, key, body, status]) => {
    expect((await pay(key, body)).status).toBe(status);
    expect(await payments('O-104')).toEqual([]);
  });

  test('keeps its payments when it is killed', async () => {
    await pay('run:3', REFUND);
    process.kill(shop.pid, 'SIGKILL');
    await shop.exited;
    await open();
    expect(await payments('O-104')).toHaveLength(1);
    expect((await pay('run:3', REFUND)).body).toMatchObject({ replayed: true });
    expect(await payments('O-104')).toHaveLength(1);
  });

  test('lets nobody change or delete a payment', async () => {
    await pay('run:3', REFUND);
    const books = new Sqlite(join(folder, 'shop.db'));
    expect(() => books.exec('UPDATE payments SET amountCents = 1')).toThrow(/append-only/);
    expect(() => books.exec('DELETE FROM payments')).toThrow(/append-only/);
    books.close();
  });

  test('answers for orders, deliveries and policy', async () => {
    expect((await get('/orders/O-104')).body).toMatchObject({ totalCents: 8950 });
    expect((await get('/deliveries/O-104')).body).toMatchObject({ daysLate: 9 });
    expect((await get('/orders/%2e%2e')).status).toBe(404);
    const sections = (await get('/policy?words=late+delivery')).body['sections'];
    expect((sections as { id: string }[]).map(({ id }) => id)).toContain('R1');
  });
});
