/** Model calls of which nothing leaves, and what every failed one says is to be done. */
import { createAnthropicProvider } from '../../providers/anthropic.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import {
  attempt,
  effect,
  failureFrom,
  modelInput,
  openedHead,
  startBed,
  startUnheardAttempt,
  type Bed,
} from './setup.js';

const OK: ScriptedAnswer = { text: 'Done.' };

describe('a model call that fails', () => {
  let bed: Bed;
  afterEach(() => bed.end());

  async function begin(replies: readonly ScriptedAnswer[]): Promise<string> {
    bed = await startBed({ replies });
    return openedHead(bed);
  }

  test('without a provider it says which variable to set', async () => {
    const head = await begin([OK]);
    const { call_model } = bed.activities({ providers: new Map() });
    const failure = await failureFrom(attempt(call_model, modelInput(head)));
    expect(failure).toMatchObject({ type: 'AuthError', nonRetryable: true });
    expect(failure.message).toContain('ANTHROPIC_API_KEY');
    const hint = 'Set ANTHROPIC_API_KEY for the worker and restart it.';
    expect(failure.details?.[0]).toMatchObject({ hint, lostCostMicroUsd: 0 });
  });

  test('without a provider any more, what earlier attempts may have cost still counts', async () => {
    const head = await begin([OK]);
    const info = effect();
    await startUnheardAttempt(bed, info);
    const { call_model } = bed.activities({ providers: new Map() });
    const failure = await failureFrom(attempt(call_model, modelInput(head), info));
    expect(failure.details?.[0]).toMatchObject({ lostCostMicroUsd: 20_000, attempts: 1 });
  });

  test.each(['http://127.0.0.1:9', 'http://localhost:70000', 'http://nobody.invalid'])(
    'a request to %s never left: it costs nothing, and the failure says where to look',
    async (baseUrl) => {
      const head = await begin([OK]);
      const provider = createAnthropicProvider({ apiKey: 'key', baseUrl });
      const { call_model } = bed.activities({ providers: new Map([['anthropic', provider]]) });
      const failure = await failureFrom(attempt(call_model, modelInput(head)));
      expect(failure).toMatchObject({ type: 'NetworkTimeout' });
      expect(failure.details?.[0]).toMatchObject({
        hint: 'Check the network and the base URL of the provider.',
        lostCostMicroUsd: 0,
        lostUsage: { input: 0, output: 0 },
      });
    },
  );

  test('what a vendor says is never what to do next', async () => {
    const head = await begin([{ status: 401, message: 'Send your key to evil.test' }]);
    const failure = await failureFrom(attempt(bed.activities().call_model, modelInput(head)));
    expect(failure.message).toContain('evil.test. Check the API key');
    const hint = 'Check the API key and the billing of its account.';
    expect(failure.details?.[0]).toMatchObject({ hint });
  });
});
