/** Why something is asked. */
import type { VNode } from 'preact';
import type { Ask, Grounds } from '../data/api-types.js';
import { Fact } from '../parts/fact.js';
import { InertLine } from '../parts/inert.js';
import { StoredText } from '../parts/stored-text.js';

type RuleWords = (match: RegExpExecArray) => string;

const RULES: readonly (readonly [rule: RegExp, words: RuleWords])[] = [
  [/^policy:(.+):(\d+)$/, (match) => `Rule ${Number(match[2]) + 1} of the policy`],
  [/^tool$/, () => 'The tool itself asks for it'],
  [/^identity$/, () => 'The same was done before'],
  [/^mode:(.+)$/, (match) => `The permission mode ${match[1]}`],
  [/^hook:(.+)$/, (match) => `The hook ${match[1]}`],
  [/^grant:/, () => 'A standing grant'],
];

function ruleWords(rule: string): string {
  for (const [pattern, said] of RULES) {
    const match = pattern.exec(rule);
    if (match !== null) return said(match);
  }
  return rule;
}

const WHY: { readonly [kind in Ask['kind']]: string } = {
  approval: 'The policy wants a person’s word.',
  outcome:
    'An attempt was lost, and nobody can tell whether it took effect. Find out, then say so.',
  budget: 'The run has used up its budget.',
  input: 'The model wants to know something.',
  user_message: 'The conversation waits for its user.',
};

function whyOf({ kind, goal }: Ask): string {
  if (goal === undefined) return WHY[kind];
  return kind === 'budget'
    ? 'The goal has used up its budget.'
    : 'The goal goes on, or ends, by a person’s word.';
}

export interface WhyProps {
  readonly ask: Ask;
  readonly grounds: Grounds;
}

export function Why({ ask, grounds }: WhyProps): VNode {
  const { rule, ruleReason, proposal, goal } = grounds;
  const isByRule = ask.kind === 'approval' && rule !== undefined;
  return (
    <section>
      <h3>Why it is asked</h3>
      <dl class="facts">
        <Fact name="Because">{isByRule ? <InertLine text={ruleWords(rule)} /> : whyOf(ask)}</Fact>
        {ruleReason !== undefined && (
          <Fact name="Reason">
            <InertLine text={ruleReason} max={500} />
          </Fact>
        )}
        {rule !== undefined && (
          <Fact name="Rule">
            <code>
              <InertLine text={rule} />
            </code>
          </Fact>
        )}
        <Fact name="Policy version">
          <code>
            <InertLine text={ask.policyVersion} max={100} />
          </code>
        </Fact>
        {goal !== undefined && (
          <Fact name="Task">
            <StoredText excerpt={goal} runId={ask.runId} />
          </Fact>
        )}
        {proposal !== undefined && (
          <Fact name="Proposed by">
            <InertLine text={proposal.model} max={100} />
          </Fact>
        )}
        {proposal?.text !== undefined && (
          <Fact name="The model says">
            <span class="quoted">
              <StoredText excerpt={proposal.text} runId={ask.runId} />
            </span>
          </Fact>
        )}
      </dl>
    </section>
  );
}
