import { goalFromText } from '../../../authoring/index.js';

const YAML = `
# What the accountants want.
name: march
objective: >-
  All invoices of March
  are matched.
agent: matcher
done:
  all:
    - {check: open, path: count, equals: 0}
validation:
  - name: open
    measure: {path: count, better: lower}
budget: {maxCostMicroUsd: 1000000}
pace: {cron: "0 9 * * 1-5", timezone: Europe/Zurich}
`;

const JSON_TEXT = JSON.stringify({
  objective: 'All invoices of March are matched.',
  agent: 'matcher',
  done: { all: [{ check: 'open', path: 'count', equals: 0 }] },
  validation: [{ name: 'open', measure: { path: 'count', better: 'lower' } }],
  budget: { maxCostMicroUsd: 1_000_000 },
  pace: { cron: '0 9 * * 1-5', timezone: 'Europe/Zurich' },
});

describe('a goal in a file', () => {
  it('is the same as YAML and as JSON', () => {
    expect(goalFromText(YAML, 'march.yaml')).toEqual(goalFromText(JSON_TEXT, 'march.json'));
    expect(goalFromText(JSON_TEXT, 'standard input').agent).toBe('matcher');
    expect(goalFromText(YAML, 'standard input').agent).toBe('matcher');
  });

  it.each([
    ['{"objective": }', 'a.json', 'line 1, column 15'],
    ['objective: [', 'a.yaml', 'line 1, column 13'],
    ['agent: a\nagent: b', 'a.yaml', 'line 2, column 1: Map keys must be unique'],
    ['agent: !!js/function "x"', 'a.yml', 'Unresolved tag'],
    ['agent: *nobody', 'a.yaml', 'Unresolved alias'],
    ['a: 1\n---\nb: 2', 'a.yaml', 'multiple documents'],
    ['- one\n- two', 'a.yaml', 'it must be an object'],
    ['', 'a.yaml', 'it must be an object'],
    ['{"name": "x"}', 'a.json', 'a.json: objective cannot be used: it must be a text'],
    [`agent: ${'['.repeat(20_000)}`, 'a.yaml', 'The goal in a.yaml cannot be used'],
    ['x'.repeat(300_000), 'a.yaml', 'it is larger than 262144 bytes'],
    [`a: &a {b: 1}\nc: {d: &c [${'*a,'.repeat(3)}]}\n`, 'a.yaml', 'a.yaml: the definition'],
    ['objective: &o [*o]', 'a.yaml', 'a.yaml: the definition cannot be used: it nests too deeply'],
  ])('is refused with the place of its fault: %.40j', (text, name, said) => {
    expect(() => goalFromText(text, name)).toThrow(said);
  });
});
