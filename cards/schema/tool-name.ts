import { z } from 'zod';

/**
 * Tools a Card may list. The plain ones are the mesh's own; a tool of somebody else bears its
 * server's name: `marketplace:search`.
 */
export const meshTools = [
  'submit',
  'await',
  'ask',
  'progress',
  'read-context',
  'recall',
  'remember',
  'web-read',
  'notify',
] as const;

/** Tools that send something out of the mesh. */
export const outwardTools: readonly string[] = ['notify'];

export const ToolName = z
  .string()
  .refine((name) => isMeshTool(name) || /^[a-z][a-z0-9-]{0,31}:[a-z][a-z0-9_-]{0,63}$/.test(name), {
    error: `a tool is one of ${meshTools.join(', ')}, or <server>:<tool>`,
  });

function isMeshTool(name: string): boolean {
  return (meshTools as readonly string[]).includes(name);
}
