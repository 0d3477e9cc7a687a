/** Task queues: the business has its own; its agents run on a queue that a Holdfast worker polls. */
export const BUSINESS_QUEUE = 'refund-business';
export const AGENT_QUEUE = 'refund-agents';
