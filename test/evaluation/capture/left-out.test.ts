/** A captured case names the attempts that it does without. */
import { capture } from '../../../evaluation/capture/capture.js';
import { differencesOf } from '../../../evaluation/capture/check.js';
import type { Bundle } from '../../../replay/bundle.js';
import { recordedRun } from './recorded-runs.js';

const leftOutOf = (bundle: Bundle): readonly string[] => capture(bundle).captured?.leftOut ?? [];
const OF_COST = expect.stringMatching(/^its cost, which is not compared/);

/** As if a worker had died in the first model call. */
function withLostAttempt(bundle: Bundle): Bundle {
  const lost = { attempts: 2, retried: [{ attempt: 2, class: 'WorkerLost' }], lostCostMicroUsd: 5 };
  const copy = structuredClone(bundle) as unknown as {
    readonly segments: { readonly events: object[] }[];
  };
  const payloads = copy.segments[0]!.events.flatMap((event) => {
    const { activityTaskCompletedEventAttributes: completed } = event as {
      activityTaskCompletedEventAttributes?: { result?: { payloads: { data: string }[] } };
    };
    return completed?.result?.payloads ?? [];
  });
  const first = payloads.find(({ data }) => atob(data).includes('"reply"'))!;
  first.data = btoa(JSON.stringify({ ...(JSON.parse(atob(first.data)) as object), ...lost }));
  return copy as unknown as Bundle;
}

test('a model call that a worker died in is named, and that the cost is not compared', async () => {
  const plain = recordedRun('approval-approved');
  expect(leftOutOf(plain)).toEqual([]);
  const document = capture(withLostAttempt(plain));
  expect(document.captured?.leftOut).toEqual([
    'model call 1: 1 attempt without an answer (WorkerLost)',
    OF_COST,
  ]);
  expect(document.expected).not.toHaveProperty('cost_micro_usd');
  expect(await differencesOf(document, 'lost')).toEqual([]);
});

test('attempts of a call that the record has no answers of are named', () => {
  expect(leftOutOf(recordedRun('quick-reads-deadly'))).toEqual([
    expect.stringMatching(/^call toolu_0_0: 1 of its 2 attempts, whose answers the record lacks/),
  ]);
});

test('a reply that was cut off is why the cost is not compared', () => {
  expect(leftOutOf(recordedRun('S130'))).toEqual([OF_COST]);
});
