/** What a model is told about plans in dataflow mode; part of the system prompt, so of every replay (G1). */
export const DATAFLOW_GUIDE = `Calls of one reply form a plan: each runs as soon as what it needs is there, calls that need nothing of each other run side by side. Any call may carry these extra arguments, whatever its schema says:
- "_outputPath": "state.<name>" keeps the call's result under that path. A path is written once. Of several calls for one path only the first that succeeds is executed, so alternatives share a path.
- "_when": {"path": "state.<name>", "equals": …} or "exists", "lte", "gte": the call is only executed if that holds.
- "_dependsOn": [call ids of this reply]: the call waits until they have succeeded.
In place of any argument value, {"$from": "state.<name>"} stands for the value at that path, {"$from": "state.<name>.<field>"} for a field of it, also of earlier replies. Names are letters, digits, _ and -. Answer without calls when you are done.`;
