/** Bounds of the product, one table (`DESIGN.md` 11). Each is tested at the bound and one past it. */
export const limits = {
  leaseMs: 2 * 60_000,
  /** Least lease that must be left, on both clocks, when a run is spawned. */
  spawnMarginMs: 5_000,
  runTimeoutMs: 30 * 60_000,
  /** Longest pause of a task whose runs meet a wall of unknown end. */
  parkMs: 10 * 60_000,
  pollMs: 5_000,
  /** As deep as a worker looks down its queue; a board lists so many at once. */
  candidates: 512,
  attempts: 3,
  ancestryDepth: 6,
  createdPerHour: 30,
  inlineBytes: 8 * 1024,
  bodyBytes: 1024 * 1024,
  runnerBytes: 64 * 1024,
  eventIds: 64,
  decisions: 64,
  versions: 512,
  /** From here on only outcome, answer, cancel, verify, archive and dead letter are appended. */
  reservedFromVersion: 480,
  /** A claim, its start and its end: no claim without room for all of them. */
  eventsOfRun: 3,
  messageChars: 1_000,
  /** One sentence of a run's program about what it does, and how many of them it may say. */
  progressBytes: 1024,
  progressPerMinute: 60,
  answerChars: 4_000,
  questionOptions: 4,
  splitChildren: 10,
  /** A transport's whole time for one notice, and the longest answer it gives. */
  noticeMs: 10_000,
  noticeAnswerBytes: 8 * 1024,
  /** Notices of one question to one person, reminders and new tries of failed ones with them. */
  noticesPerQuestion: 12,
  /** An open gate or urgent question is spoken of again after this. */
  remindMs: 24 * 60 * 60_000,
  /** The rest of a log is for work: from here on its questions stand in the digest only. */
  noticesToVersion: 256,
  escalationSteps: 2,
  waitMs: 10 * 60_000,
  cancelWaitMs: 10_000,
  sseKeepAliveMs: 15_000,
  slowReaderBytes: 1024 * 1024,
  tokenLifeMs: 5 * 60_000,
  toolLoopTurns: 8,
  historyMessages: 20,
  /** From its end on, what was completed without verification is archived after this. */
  retentionMs: 7 * 24 * 60 * 60_000,
  /** How long the stream of an ended task can be read again. */
  streamsMs: 24 * 60 * 60_000,
} as const;
