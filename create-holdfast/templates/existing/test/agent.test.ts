import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTriage } from '../src/agent-step.js';

const said = (text: string) =>
  ({ completed: true, stopReason: 'completed', answer: { text } }) as const;

test('the team that the agent names gets the complaint', () => {
  assert.deepEqual(readTriage(said('{"team": "quality", "reason": "Broken."}')), {
    team: 'quality',
    reason: 'Broken.',
  });
});

test('a person gets what names no team', () => {
  assert.equal(readTriage(said('Ask the quality team.')).team, 'person');
  assert.equal(readTriage(said('{"team": "board"}')).team, 'person');
});

test('a person gets what the agent did not finish', () => {
  const stopped = { completed: false, stopReason: 'max_turns' } as const;
  assert.equal(readTriage(stopped).team, 'person');
});
