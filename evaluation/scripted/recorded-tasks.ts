/** Which tasks a recorded run gave to sub-agents, and what it handed over. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import type { ToolRecord } from '../../core/state/tool.js';

export class RecordedTasks {
  private readonly starters: ReadonlySet<string>;
  private readonly given = new Set<string>();

  constructor(events: readonly RunEvent[], tools: readonly Pick<ToolRecord, 'name' | 'kind'>[]) {
    const starting = tools.filter(({ kind }) => kind === 'subagent' || kind === 'handoff');
    this.starters = new Set(starting.map(({ name }) => name));
    for (const event of events) {
      if (event.type !== 'model_response') continue;
      for (const { tool, args } of event.calls) this.given.add(keyOf(tool, args));
    }
  }

  isNew(tool: string, args: Json): boolean {
    return this.starters.has(tool) && !this.given.has(keyOf(tool, args));
  }
}

function keyOf(tool: string, args: Json): string {
  return `${tool} ${canonicalJson(args)}`;
}
