/** What an answer rests on stays pinned for as long as it is the proof (G78, G105). */
import { CHANGES } from '../../../core/step/changes.js';
import { pinnedTexts } from '../../../core/context/pinned.js';
import { isOpen } from '../../../core/state/run.js';
import { call, calls, flows, says, type Script } from '../script.js';
import { createShell, finish } from '../shell.js';

const read = (id: string, orderId: string) => calls(call(id, 'read_order', { orderId }));

function pinnedAfter(script: Partial<Script>): readonly string[] {
  const shell = createShell({ model: [], ...script });
  finish(shell);
  if (!isOpen(shell.run)) throw new Error('not opened');
  return pinnedTexts(shell.run).pinned;
}

const paid = { id: 'paid', satisfiedBy: 'read_order', predicate: { path: 'paid', equals: true } };
const ORDERS: Script['outcomes'] = {
  read_order: [{ ok: { order: 'O-17', paid: true } }, { ok: { order: 'O-18' } }],
};
const TWICE = [read('a', 'O-17'), read('b', 'O-18'), says('Done.')];

test('a result that met a predicate stays, also when its tool is called for something else', () => {
  expect(
    pinnedAfter({ task: { requiredEvidence: [paid] }, outcomes: ORDERS, model: TWICE }),
  ).toEqual([
    'What read_order returned (evidence paid):\n{"order":"O-17","paid":true}',
    'What read_order returned:\n{"order":"O-18"}',
  ]);
});

test('a criterion on a tool pins what the tool returned', () => {
  const successCriteria = [{ id: 'read', when: { path: 'tools.read_order', equals: true } }];
  expect(pinnedAfter({ task: { successCriteria }, outcomes: ORDERS, model: TWICE })).toEqual([
    'What read_order returned:\n{"order":"O-18"}',
  ]);
});

test('a place of the state that is evidence, or that a criterion looks at, pins its value', () => {
  const task = {
    requiredEvidence: [{ id: 'order', satisfiedBy: 'state.order' }],
    successCriteria: [{ id: 'paid', when: { path: 'state.status.paid', equals: true } }],
  };
  const model = [
    calls(
      flows('a', 'read_order', { orderId: '1', _outputPath: 'state.order' }),
      flows('b', 'lookup_order', { orderId: '1', _outputPath: 'state.status' }),
      flows('c', 'read_delivery_status', { orderId: '1', _outputPath: 'state.other' }),
    ),
    says('Done.'),
  ];
  const outcomes = { read_order: [{ ok: 'O-17' }], lookup_order: [{ ok: { paid: true } }] };
  expect(pinnedAfter({ settings: { toolExecution: 'dataflow' }, task, outcomes, model })).toEqual([
    'What read_order returned (evidence order):\nO-17',
    'What lookup_order returned (criterion paid):\n{"paid":true}',
  ]);
});

test('a result that proves several things is said once, within the place of all', () => {
  const requiredEvidence = Array.from({ length: 40 }, (_, index) => ({ ...paid, id: `p${index}` }));
  const big = { paid: true, text: 'x'.repeat(2_000) };
  const pinned = pinnedAfter({
    task: { requiredEvidence },
    outcomes: { read_order: [{ ok: big }] },
    model: [read('a', 'O-17'), says('Done.')],
  });
  expect(pinned).toHaveLength(1);
  expect(pinned.join('').length).toBeLessThan(500);
});

test('runs of older rules pin the newest result of each tool that is evidence', () => {
  const script = { task: { requiredEvidence: [paid] }, outcomes: ORDERS, model: TWICE };
  expect(pinnedAfter({ ...script, rules: CHANGES.pinnedProofs.since - 1 })).toEqual([
    'What read_order returned:\n{"order":"O-18"}',
  ]);
});
