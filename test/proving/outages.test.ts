/** Answers that were recorded where a tool's service was not there. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { loadDatabase } from '../../lab/proving/domains/database';
import { NO_KILL } from '../../lab/proving/kill-switch';
import { replayRun } from '../../lab/proving/offline-replay';
import { isOutage } from '../../lab/proving/outage';
import { parseRecording } from '../../lab/proving/recording';
import { RETAIL } from '../../lab/proving/retail/tools';
import { NO_FAULTY_CALLS } from '../../lab/proving/tool-faults';
import { startToolRelay } from '../../lab/proving/tool-relay';
import { describeWithMaterial, TAU2 } from './material';
import { playable } from './playable';

const GONE = 'Error: 503 Service Unavailable';
const CANCEL = { order_id: '#W6390527', reason: 'no longer needed' };

function recorded(content: string) {
  const call = (id: string) => ({ id, name: 'cancel_pending_order', arguments: CANCEL });
  const messages = [
    { role: 'user', content: 'yes' },
    { role: 'assistant', content: null, tool_calls: [call('c0')] },
    { role: 'tool', id: 'c0', content, error: true },
    { role: 'assistant', content: 'done' },
  ];
  return parseRecording({ simulations: [{ task_id: '1', trial: 0, messages }] }).runs[0]!;
}

test.each<[string, boolean]>([
  [GONE, true],
  ['503 Server Error: Service Unavailable for url: http://tools/call', true],
  ['Error: request failed with status code 503', true],
  ['Error: the service is temporarily unavailable', true],
  ['Error: Order not found', false],
  ['Error: New item 503 not found or available', false],
  ['Error: Payment amount does not add up, total price is 503, but paid 100', false],
  ['503.0', false],
  [`503 ${'x'.repeat(2_000)}`, false],
])('%j is an outage: %s', (content, outage) => {
  expect(isOutage(content)).toBe(outage);
});

describeWithMaterial('a recorded outage, replayed offline', () => {
  test('is its own answer, and changes nothing', () => {
    const database = loadDatabase(RETAIL, [join(TAU2, 'retail', 'db.json')]);
    const replay = replayRun({ domain: RETAIL, database }, recorded(GONE));
    expect(replay).toMatchObject({ outputs: 1, writes: 0, differences: [], changes: {} });
    const other = replayRun({ domain: RETAIL, database }, recorded('Error: Some other fault'));
    expect(other.differences).toHaveLength(1);
  });
});

test('a recorded outage is played to the worker, and the service never hears of the call', async () => {
  const reached: string[] = [];
  const service = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.end('{"content":"cancelled","error":false}');
  });
  await new Promise<void>((resolve) => {
    service.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = service.address() as AddressInfo;
  const serviceUrl = `http://127.0.0.1:${port}`;
  const answered = async (content: string): Promise<unknown> => {
    const run = playable(recorded(content), RETAIL);
    const played = { run, kill: NO_KILL, calls: NO_FAULTY_CALLS };
    const relay = await startToolRelay({ serviceUrl, domain: RETAIL }, () => played);
    const body = JSON.stringify({ run: 'r', tool: 'cancel_pending_order', callId: 'c0' });
    try {
      return await (await fetch(`${relay.url}/call`, { method: 'POST', body })).json();
    } finally {
      await relay.stop();
    }
  };
  try {
    expect(await answered(GONE)).toEqual({ content: GONE, error: true });
    expect(reached).toEqual([]);
    expect(await answered('Error: Order not found')).toEqual({
      content: 'cancelled',
      error: false,
    });
    expect(reached).toEqual(['/call']);
  } finally {
    service.close();
  }
});
