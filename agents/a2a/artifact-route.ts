import { Hono } from 'hono';
import { MeshError } from '../../fabric/domain/errors.ts';
import type { ResultArtifact } from '../../fabric/domain/task.ts';
import { requireScope } from '../../fabric/queue/answer.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { Edge } from './edge.ts';
import { visibleTask } from './visible-task.ts';

/**
 * Contents of a task's artifacts, for whoever may see the task. What an agent made is never shown as
 * a page of this origin: it is a download without rights.
 */
export function artifactRoute(edge: Edge, authenticate: Authenticate): Hono {
  const app = new Hono();
  app.get('/:taskId/:artifactId', async (c) => {
    const principal = await authenticate(c.req.raw, edge.agentId);
    requireScope(principal, 'tasks:read');
    const { taskId, artifactId } = c.req.param();
    const { state } = await visibleTask(edge, principal, taskId);
    const found = state.outcome?.artifacts.find((made) => made.artifactId === artifactId);
    const content = found && (await contentOf(edge, found));
    if (found === undefined || content === undefined) throw noArtifact(taskId, artifactId);
    return c.body(content, 200, {
      'Content-Type': found.mediaType || 'application/octet-stream',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(found.name ?? artifactId)}`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, max-age=0',
    });
  });
  return app;
}

async function contentOf(
  { queue }: Edge,
  { text, ref }: ResultArtifact,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (text !== undefined) return new TextEncoder().encode(text);
  if (!ref?.startsWith('artifact:')) return undefined;
  const content = await queue.artifacts.get(ref.slice('artifact:'.length));
  return content && new Uint8Array(content);
}

function noArtifact(taskId: string, artifactId: string): MeshError {
  return new MeshError('NOT_FOUND', `Task ${taskId} has no artifact ${artifactId} to download.`);
}
