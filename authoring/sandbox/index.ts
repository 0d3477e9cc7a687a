/** Tools for agents that work on files, in a sandbox of their run. */
import type { Tool } from '../tool.js';
import { editFileTool } from './edit-file.js';
import { readFileTool } from './read-file.js';
import { searchTool } from './search.js';
import { shellTool } from './shell.js';
import { writeFileTool } from './write-file.js';

export { defineShell, shellTool, type ShellDefinition } from './shell.js';
export { editFileTool, readFileTool, searchTool, writeFileTool };
export type {
  CommandResult,
  FolderChange,
  FolderView,
  Sandbox,
  SandboxedCommand,
} from './sandbox.js';

/** All five. */
export const codingTools: readonly Tool[] = Object.freeze([
  shellTool,
  readFileTool,
  writeFileTool,
  editFileTool,
  searchTool,
]);
