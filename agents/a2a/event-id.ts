/** A place in a task's stream: `<incarnation>.<sequence>`; sequence 0 is before its first frame. */
export interface EventId {
  readonly incarnation: string;
  readonly sequence: number;
}

const Form = /^(.{1,64})\.(\d{1,15})$/;

/** Undefined for what is not an event id; a client may send anything as Last-Event-ID. */
export function parseEventId(text: string | undefined): EventId | undefined {
  const [, incarnation, sequence] = Form.exec(text ?? '') ?? [];
  if (incarnation === undefined) return undefined;
  return { incarnation, sequence: Number(sequence) };
}

export const toEventIdText = ({ incarnation, sequence }: EventId): string =>
  `${incarnation}.${sequence}`;
