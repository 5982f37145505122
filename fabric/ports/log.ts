/** JSON lines on stderr. `event` is constant (`task.claimed`); never a prompt, output, token or header. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  /** Something was handled and may matter later. */
  warn(event: string, fields?: LogFields): void;
  /** A person must act. */
  error(event: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;
