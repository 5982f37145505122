import { z } from 'zod';
import { isPrivateHost } from '../cards/agent-card/private-host.ts';
import { TimeZone, WallTime } from '../cards/schema/weekly-hours.ts';

/** A secret stands in the environment, or in a file that the environment names; here is only its name. */
const SecretName = z
  .string()
  .regex(
    /^MESH_[A-Z0-9_]{1,59}$/,
    'name the variable that holds it, MESH_…; no secret stands here',
  );

const WebhookUrl = z
  .url({ protocol: /^https?$/, error: 'an address starts with https:// or http://' })
  .refine((url) => isSafe(new URL(url)), {
    error:
      'what waits for a person goes over https://, or http:// within a private network; no login in it',
  });

const isSafe = ({ protocol, hostname, username }: URL): boolean =>
  username === '' && (protocol === 'https:' || isPrivateHost(hostname));

const Webhook = z.strictObject({
  url: WebhookUrl,
  /** Sent as `Authorization: Bearer …`, or as it is in `header`. */
  secret: SecretName.optional(),
  header: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'a header is letters, digits and dashes')
    .optional(),
});

const Command = z.strictObject({
  run: z.tuple([z.string().min(1)], z.string().max(1_000)),
  /** Variables of the mesh's own environment that the program gets. */
  secrets: z.array(SecretName).max(8).default([]),
});

const DigestTime = z.union([
  z.literal('off').transform(() => null),
  WallTime.refine((minute) => minute < 24 * 60, 'a digest comes before midnight, "23:59" at last'),
]);

const ways = ['mail', 'webhook', 'command'] as const;

/** How one person hears of what waits for them. */
const PersonSettings = z
  .strictObject({
    mail: z.email().optional(),
    webhook: Webhook.optional(),
    command: Command.optional(),
    /** What a webhook or a program calls them. */
    address: z.string().trim().min(1).max(200).optional(),
    digest: DigestTime.default(8 * 60),
    zone: TimeZone.optional(),
  })
  .refine((person) => ways.filter((way) => person[way] !== undefined).length === 1, {
    error: `one way to reach them: ${ways.join(', ')}`,
  });
export type PersonSettings = z.infer<typeof PersonSettings>;

/** By the id of their Card. */
export const People = z.record(z.string(), PersonSettings);

/** The mail server that notices leave by. */
export const MailSettings = z
  .strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).default(587),
    tls: z.enum(['implicit', 'starttls', 'none']).optional(),
    from: z.email(),
    user: z.string().min(1).optional(),
    password: SecretName.optional(),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    error: 'a login is user and password, or neither',
  })
  .transform(({ tls, ...mail }) => ({
    ...mail,
    tls: tls ?? (mail.port === 465 ? ('implicit' as const) : ('starttls' as const)),
  }))
  .refine(({ tls, host }) => tls !== 'none' || isPrivateHost(host), {
    error: 'mail leaves a private network only encrypted',
    path: ['tls'],
  });
export type MailSettings = z.infer<typeof MailSettings>;
