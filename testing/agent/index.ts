/** Testing an agent without a server. */
export { testAgent, type AgentTest } from './test-agent.js';
export { calls, type ModelScript, type TestRequest } from './model-script.js';
export type { TestFailure, TestReply, TestReplyCall, TestTurn } from './test-turn.js';
export type { FakeCode, TimedFake, ToolFake, ToolFakes } from './fakes.js';
export type { People, TestApproval, TestAsk, TestDecision } from './people.js';
export type { TestedAsk, TestedCall, TestedRun } from './tested-run.js';
export { agentMatchers, type AgentMatchers } from './matchers.js';
export {
  assertAsked,
  assertCalled,
  assertCost,
  assertNotAsked,
  assertNotCalled,
  assertStopped,
  type ExpectedCall,
} from './assertions.js';
export type { AskExpectation, CallExpectation, CostExpectation } from './judge.js';
