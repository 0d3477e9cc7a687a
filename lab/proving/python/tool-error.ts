/** A failure that belongs to the tool's answer: the customer-service model sees its text. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
