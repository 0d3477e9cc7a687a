/** What somebody is about to send in place of a proposed call. */
import { useMemo, useState } from 'preact/hooks';
import type { Ask, Grounds, Json, Schema } from '../data/api-types.js';
import { readField, type Drafts, type Read } from './read-fields.js';
import { fieldsOf, type Field } from './schema-fields.js';

export interface Corrected {
  readonly ask: Ask;
  readonly args: Json;
  readonly grounds: Grounds;
}

interface Said {
  readonly tool: string;
  /** What the fields begin with. */
  readonly base: Json;
  readonly drafts: Drafts;
  /** Absent: edited in fields. */
  readonly json?: string;
}

export interface Correcting {
  readonly tool: string;
  /** Of the proposed tool, with other arguments. */
  readonly isSameTool: boolean;
  readonly field: Field;
  readonly drafts: Drafts;
  readonly json: string | undefined;
  readonly read: () => Read;
  readonly choose: (tool: string) => void;
  readonly draft: (fieldId: string, said: string | boolean) => void;
  readonly writeJson: (text: string) => void;
  readonly editAsJson: (isWanted: boolean) => void;
}

/** Where the whole is edited as JSON. */
export const JSON_ID = 'correct-json';

export function useCorrection({ ask, args, grounds }: Corrected): Correcting {
  const own = ask.tool ?? '';
  const [said, setSaid] = useState<Said>({ tool: own, base: args, drafts: {} });
  const { tool, base, drafts, json } = said;
  const isSameTool = tool === own;
  const field = useMemo(() => fieldsOf(schemaIn(grounds, tool, own), base), [tool, base]);
  const read = (): Read => (json === undefined ? readField(field, drafts) : readJson(json));
  return {
    tool,
    isSameTool,
    field,
    drafts,
    json,
    read,
    choose(wanted) {
      const begun = wanted === own ? args : {};
      setSaid({
        tool: wanted,
        base: begun,
        drafts: {},
        ...(json !== undefined && { json: jsonOf(begun) }),
      });
    },
    draft: (fieldId, text) => setSaid({ ...said, drafts: { ...drafts, [fieldId]: text } }),
    writeJson: (text) => setSaid({ ...said, json: text }),
    editAsJson(isWanted) {
      const now = read();
      const value = now.ok && now.value !== undefined ? now.value : args;
      setSaid({ tool, base: value, drafts: {}, ...(isWanted && { json: jsonOf(value) }) });
    },
  };
}

function schemaIn({ tool, otherTools }: Grounds, wanted: string, own: string): Schema | undefined {
  const known = wanted === own ? tool : otherTools.find(({ name }) => name === wanted);
  return known?.inputSchema as Schema | undefined;
}

function jsonOf(value: Json): string {
  return JSON.stringify(value, null, 2);
}

function readJson(text: string): Read {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch {
    return { ok: false, fault: 'That is no JSON.', fieldId: JSON_ID };
  }
}
