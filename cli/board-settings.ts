import { z } from 'zod';
import { Duration } from '../cards/schema/duration.ts';
import { HttpUrl } from './http-url.ts';

const withoutSecret = (url: string): boolean => {
  if (!URL.canParse(url)) return true; // told by its own rule
  const { username, password } = new URL(url);
  return username === '' && password === '';
};

const BoardUrl = HttpUrl.refine(
  withoutSecret,
  'an address holds no credential: give the token as MESH_KANBOARD_TOKEN or by tokenFile',
);

/** A Kanboard as the fabric; without `url` one that `mesh up` brings up itself. */
export const KanboardSettings = z.strictObject({
  url: BoardUrl.optional(),
  /** What people open, where that is not `url`. */
  webUrl: BoardUrl.optional(),
  /** The application token's file; relative to the home. */
  tokenFile: z.string().min(1).optional(),
  /** Whose tasks, where several meshes share a Kanboard. */
  boardId: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a board id is lower-case letters, digits and dashes')
    .default('mesh'),
  /** Between two looks for what others changed. */
  poll: Duration.default(5_000),
  webhook: z
    .strictObject({
      /** Where the Kanboard reaches the front; default: the front's own address. */
      url: BoardUrl.optional(),
      tokenFile: z.string().min(1).optional(),
    })
    .prefault({}),
});
export type KanboardSettings = z.infer<typeof KanboardSettings>;

/** `board:` of mesh.yaml. Absent: the home's own database. */
export const BoardSettings = z.strictObject({ kanboard: KanboardSettings });
