/** Where each argument of an operation goes. */
import type { Part } from './document.js';

/** How a value is written. `deep`: `filter[age]=3`. */
export interface Style {
  readonly style: 'plain' | 'space' | 'pipe' | 'deep' | 'json';
  /** Each item by itself. */
  readonly explode: boolean;
}

export interface Field extends Style {
  /** As the model says it. */
  readonly argument: string;
  /** As the service knows it. */
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Part;
}

export interface Body {
  readonly argument: string;
  readonly required: boolean;
  readonly form: 'json' | 'form' | 'text';
  readonly contentType: string;
  readonly schema: Part;
  /** Of a form, by the names of its fields; others are written as they are, and objects as JSON. */
  readonly styles: ReadonlyMap<string, Style>;
}

export interface Plan {
  readonly fields: readonly Field[];
  readonly body?: Body;
  /** Header that the document asks for, which the runtime fills. */
  readonly keyHeader?: string;
}
