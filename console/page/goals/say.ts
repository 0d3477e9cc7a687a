/** Says it; `done` is what is told when the goal has it. Gives whether it was taken. */
export type Say = (path: string, body: object, done: string) => Promise<boolean>;
