/**
 * Histories in Temporal's JSON (proto3 JSON), whatever copies of protobufjs an installation has. The SDK's own
 * functions use the copy of `@temporalio/common`, which refuses types that another copy has made, and only a
 * project itself, none of its dependencies, can say that there is to be one copy.
 * Invariant: types, and what reads and writes their JSON, are of one copy: that of `@temporalio/proto`.
 */
import { createRequire } from 'node:module';
import type { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils';
import { commonEvent, isCommonEvent } from './history-fields.js';
import { fitsOf, type MessageType } from './history-form.js';

export type History = ReturnType<typeof historyFromJSON>;

export interface HistoryJson {
  /**
   * Fields that the definitions do not know are left out. Errors: TypeError for what is no history; over an event
   * without attributes the replayer would break.
   */
  read(json: { readonly events: readonly object[] }): History;
  /** Whether `read` surely knows events of this type; false: `read` alone tells. */
  knows(eventType: string): boolean;
  /** Whether `read` surely takes this event, which has attributes; false: `read` alone tells. */
  fits(event: object): boolean;
  write(history: Parameters<typeof historyToJSON>[0]): string;
}

interface HistoryType extends MessageType {
  fromObject(history: object): object;
}

interface Definitions {
  lookupType(name: string): HistoryType;
  lookupEnum(name: string): { readonly values: { readonly [name: string]: number } };
}

interface ProtoJson {
  fromJson(type: HistoryType, json: unknown, options: object): object;
  toJson(type: HistoryType, message: object): unknown;
}

/** By the definitions that the module of this file works with. */
export function historyJsonOf(file: string): HistoryJson {
  const definitionsFile = createRequire(file).resolve('@temporalio/proto');
  const load = createRequire(definitionsFile);
  const definitions = load(definitionsFile) as Definitions;
  const protoJson = load('protobufjs/ext/protojson') as ProtoJson;
  const type = definitions.lookupType('temporal.api.history.v1.History');
  const eventType = definitions.lookupType('temporal.api.history.v1.HistoryEvent');
  const { values } = definitions.lookupEnum('temporal.api.enums.v1.EventType');
  let fits: HistoryJson['fits'] | undefined;
  return {
    // The first is that of no event.
    knows: (name) => Object.hasOwn(values, name) && values[name] !== 0,
    fits: (event) => (fits ??= fitsOf(eventType))(event),
    read(json) {
      for (const event of json.events) refuseBare(event);
      return protoJson.fromJson(type, json, { ignoreUnknownFields: true }) as History;
    },
    write: (history) => JSON.stringify(protoJson.toJson(type, type.fromObject(history))),
  };
}

function refuseBare(event: object): void {
  const names = Object.keys(event);
  if (names.some((name) => name.endsWith('EventAttributes'))) return;
  const id = 'eventId' in event ? String(event.eventId) : '?';
  throw new TypeError(`Missing attributes in history event ${id.slice(0, 20)}`);
}

let defined: HistoryJson | undefined;

function ofDefinitions(): HistoryJson {
  return (defined ??= historyJsonOf(require.resolve('@temporalio/common')));
}

let fitsCommon: HistoryJson['fits'] | undefined;

const own: HistoryJson = {
  knows: (eventType) => isCommonEvent(eventType) || ofDefinitions().knows(eventType),
  fits(event) {
    fitsCommon ??= fitsOf(commonEvent());
    return fitsCommon(event) || ofDefinitions().fits(event);
  },
  read: (json) => ofDefinitions().read(json),
  write: (history) => ofDefinitions().write(history),
};

/** With the definitions of this installation, which are loaded when they are first needed. */
export function historyJson(): HistoryJson {
  return own;
}
