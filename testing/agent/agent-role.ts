/** The own name of a sub-agent or role, the last one of its path: `auditor` of `refund/auditor`. */
export function roleOf(agent: string): string {
  return agent.slice(agent.lastIndexOf('/') + 1);
}
