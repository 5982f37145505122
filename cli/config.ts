import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { Duration } from '../cards/schema/duration.ts';
import { InvalidValueError, reasonOf } from '../fabric/domain/errors.ts';
import { AgentId } from '../fabric/domain/ids.ts';
import { BoardSettings } from './board-settings.ts';
import { HttpUrl } from './http-url.ts';
import { shellWord } from './text/shell-word.ts';

/** Each as itself or as the file that it is in; a file wins over none, the value over the file. */
export interface KanboardSecrets {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly webhookToken?: string | undefined;
  readonly webhookTokenFile?: string | undefined;
}

/** What the process's environment says; nothing else of the product reads it. */
export interface Environment {
  readonly home: string | undefined;
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly meshSecret: string | undefined;
  readonly gatewayUrl: string | undefined;
  readonly gatewayKey: string | undefined;
  /** Of the Kanboard that the tasks lie on. */
  readonly kanboard: KanboardSecrets;
  readonly logLevel: string | undefined;
  readonly noColor: boolean;
  /** The whole of it, for children that need a PATH: git, runners, executors. */
  readonly all: Readonly<Record<string, string | undefined>>;
}

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** `MESH_LOG_LEVEL`, where it is one of the levels. */
export const logLevelOf = ({ logLevel }: Environment) => levels.find((level) => level === logLevel);

export function loadEnvironment(): Environment {
  const all = process.env;
  return Object.freeze({
    home: all['MESH_HOME'],
    url: all['MESH_URL'],
    token: all['MESH_TOKEN'],
    meshSecret: all['MESH_SECRET'],
    gatewayUrl: all['MESH_GATEWAY_URL'],
    gatewayKey: all['MESH_GATEWAY_KEY'],
    kanboard: {
      token: all['MESH_KANBOARD_TOKEN'],
      tokenFile: all['MESH_KANBOARD_TOKEN_FILE'],
      webhookToken: all['MESH_KANBOARD_WEBHOOK_TOKEN'],
      webhookTokenFile: all['MESH_KANBOARD_WEBHOOK_TOKEN_FILE'],
    },
    logLevel: all['MESH_LOG_LEVEL'],
    noColor: all['NO_COLOR'] !== undefined && all['NO_COLOR'] !== '',
    all: { ...all },
  });
}

/** `mesh.yaml`, strict: an unknown key is an error. */
const MeshYaml = z.strictObject({
  defaultHuman: AgentId,
  front: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(4700),
      publicUrl: HttpUrl.optional(),
    })
    .prefault({}),
  gateway: z.strictObject({ url: HttpUrl }).optional(),
  board: BoardSettings.optional(),
  registry: z
    .strictObject({
      branch: z.string().min(1).default('main'),
      fetch: Duration.default(30_000),
      remote: z.string().min(1).optional(),
    })
    .prefault({}),
});

export type MeshConfig = Readonly<z.infer<typeof MeshYaml>> & {
  /** From `mesh.yaml` or `MESH_GATEWAY_URL`; absent = model personas wait. */
  readonly gatewayUrl: string | undefined;
};

/**
 * Reads and checks `<home>/mesh.yaml`.
 * @throws InvalidValueError naming every problem with its path
 */
export async function loadConfig(home: string, environment: Environment): Promise<MeshConfig> {
  const file = join(home, 'mesh.yaml');
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InvalidValueError(
      `There is no readable ${file}. Make a mesh home with: mesh init ${shellWord(home)}`,
      'mesh.yaml',
      { cause },
    );
  });
  const config = MeshYaml.safeParse(yamlOf(file, text));
  if (!config.success) {
    const problems = config.error.issues.map(
      (issue) => `  ${issue.path.join('.') || '(top)'}: ${issue.message}`,
    );
    throw new InvalidValueError(`${file} is not valid:\n${problems.join('\n')}`, 'mesh.yaml');
  }
  const gatewayUrl = environment.gatewayUrl ?? config.data.gateway?.url;
  return Object.freeze({ ...config.data, gatewayUrl });
}

function yamlOf(file: string, text: string): unknown {
  try {
    return parse(text, { uniqueKeys: true });
  } catch (error) {
    const line = error instanceof YAMLParseError ? (error.linePos?.[0].line ?? 1) : 1;
    throw new InvalidValueError(`${file}:${line}: ${yamlReason(error)}`, 'mesh.yaml', {
      cause: error,
    });
  }
}

/** What is wrong in one sentence, without the excerpt and the mark that the parser draws below it. */
function yamlReason(error: unknown): string {
  const [first = ''] = reasonOf(error).split('\n');
  const what = first.replace(/( at line \d+, column \d+)?[:.]?$/, '');
  return `${what}. Correct the YAML at this place.`;
}
