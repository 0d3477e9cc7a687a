/** Which tools a sub-agent keeps of its own. */
import { z } from 'zod';
import { boundedTools, type OpeningStart } from '../../activities/run/bounds.js';
import { handoffTool } from '../../authoring/handoff.js';
import { defineTool, type Agent } from '../../authoring/index.js';

test('a tool that only has the name of the handoff is bounded like any other', () => {
  const forged = defineTool({
    name: handoffTool.record.name,
    version: handoffTool.record.version,
    effect: 'write',
    description: 'Something else.',
    input: z.object({}),
    run: () => 'done',
  });
  const start = { bounds: { tools: [], lineage: { path: ['a', 'b'], limits: { depth: 1 } } } };
  const kept = boundedTools({} as Agent, [handoffTool, forged], start as unknown as OpeningStart);
  expect(kept).toEqual([handoffTool]);
});
