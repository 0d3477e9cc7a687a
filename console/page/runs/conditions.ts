/** Further conditions of the list of runs, and its order: as they are written, and as the server takes them. Pure. */

type Unit = 'text' | 'count' | 'minutes' | 'day';

interface Condition {
  readonly label: string;
  readonly unit: Unit;
}

/** By the server's own name, in the order of the page. */
export const CONDITIONS = {
  stopReason: { label: 'Stop reason', unit: 'text' },
  detail: { label: 'Detail begins with', unit: 'text' },
  tool: { label: 'Tool used', unit: 'text' },
  errorCode: { label: 'Code of an error', unit: 'text' },
  goal: { label: 'Text in the goal', unit: 'text' },
  text: { label: 'Text in goal or answer', unit: 'text' },
  version: { label: 'Version', unit: 'text' },
  rules: { label: 'Rules number', unit: 'count' },
  turnsFrom: { label: 'Turns at least', unit: 'count' },
  turnsTo: { label: 'Turns at most', unit: 'count' },
  activeFrom: { label: 'Minutes active at least', unit: 'minutes' },
  activeTo: { label: 'Minutes active at most', unit: 'minutes' },
  waitingFrom: { label: 'Minutes waiting at least', unit: 'minutes' },
  waitingTo: { label: 'Minutes waiting at most', unit: 'minutes' },
  since: { label: 'Began on or after', unit: 'day' },
  until: { label: 'Began on or before', unit: 'day' },
  differsFrom: { label: 'Differs from the run', unit: 'text' },
} as const satisfies { readonly [name: string]: Condition };

export type ConditionName = keyof typeof CONDITIONS;
/** As they were written. */
export type Written = { readonly [name in ConditionName]?: string };

export const SORTS = {
  started: 'Newest first',
  cost: 'Most expensive first',
  turns: 'Most turns first',
  active: 'Longest work first',
  waiting: 'Longest wait first',
} as const;
export type Sort = keyof typeof SORTS;

const MINUTE_MS = 60_000;

/** What nobody could mean is left out. */
export function parametersOf(written: Written): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, { unit }] of Object.entries(CONDITIONS) as [ConditionName, Condition][]) {
    const value = valueOf((written[name] ?? '').trim(), { unit, isEnd: name === 'until' });
    if (value !== undefined) given.set(name, value);
  }
  return given;
}

interface Reading {
  readonly unit: Unit;
  /** Of a day: its end is meant. */
  readonly isEnd: boolean;
}

function valueOf(text: string, { unit, isEnd }: Reading): string | undefined {
  if (text === '') return undefined;
  switch (unit) {
    case 'text':
      return text;
    case 'count':
      return /^\d{1,9}$/.test(text) ? text : undefined;
    case 'minutes': {
      const minutes = Number(text.replace(',', '.'));
      return Number.isFinite(minutes) && minutes >= 0
        ? String(Math.round(minutes * MINUTE_MS))
        : undefined;
    }
    case 'day': {
      // Without a zone: midnight where the page is looked at.
      const day = new Date(`${text}T00:00`);
      if (Number.isNaN(day.getTime()) || day.getTime() < 0) return undefined;
      if (!isEnd) return String(day.getTime());
      day.setDate(day.getDate() + 1);
      return String(day.getTime() - 1);
    }
  }
}
