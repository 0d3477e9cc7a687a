// What both peers here share: their settings, the tools' work, and what they say to the trial.
export const settings = JSON.parse(process.env.PEER_SETTINGS ?? '{}');
export const READ = 'orders_read';
export const PAY = 'refunds_pay';
export const MODEL = 'claude-haiku-4-5';
export const INSTRUCTIONS = 'Look at the orders one after the other, then do what is asked for.';

export function orderText(orderId) {
  const order = { orderId, customer: 'C-17', lines: '' };
  const lines = 'x'.repeat(500 - JSON.stringify(order).length);
  return JSON.stringify({ ...order, lines });
}

export async function pay({ run, amountCents, key }) {
  const response = await fetch(`${settings.serviceUrl}/pay`, {
    method: 'POST',
    body: JSON.stringify({ run, amountCents, ...(settings.keyed && { key }) }),
  });
  if (!response.ok) throw new Error(`The payment service answered ${response.status}.`);
  return JSON.stringify(await response.json());
}

export function tell(message) {
  process.send?.(message);
}

/** `start`, `approve` and `again` take the run's name. */
export function servePeer(peer) {
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ does, run, goal }) => {
    peer[does](run, goal).catch((error) => tell({ is: 'failed', run, error: String(error) }));
  });
  tell({ is: 'serving' });
}
