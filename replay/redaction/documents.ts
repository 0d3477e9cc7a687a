/** The recorded values of a bundle that rules look into: payloads, messages, events, large texts. */
import type { Json } from '../../core/json.js';
import type { Bundle } from '../bundle.js';
import { payloadValues } from '../history.js';

export function documentsOf({ segments, nodes, blobs, events }: Bundle): readonly Json[] {
  const histories = segments.map((segment) => segment.events) as unknown as Json;
  return [
    ...payloadValues(histories),
    ...Object.values(nodes),
    ...Object.values(blobs),
    ...(events as unknown as readonly Json[]),
  ];
}
