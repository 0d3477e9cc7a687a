/** What a tool says of the card of its question: where in a call's arguments the amount and the recipient stand. */

export interface ToolCard {
  readonly amount?: CardAmount;
  /** Path of the argument that says to whom: `recipient`, `to.iban`. */
  readonly recipient?: string;
  /** Path in the tool's result under which the service knows what was done: `refundId`. */
  readonly reference?: string;
  /** What people read in place of an argument's name, by its path. */
  readonly labels?: { readonly [path: string]: string };
}

export interface CardAmount {
  /** Path of the argument: a number, or a text that is one. */
  readonly path: string;
  /** 'minor': the smallest unit of the currency, such as cents. */
  readonly unit: 'minor' | 'major';
  /** Three capital letters are the code of a currency; anything else is the path of the argument that has it. */
  readonly currency: string;
}

export function isCurrencyCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text);
}
