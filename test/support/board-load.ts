import { writeSync } from 'node:fs';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { claimedBy, settledBy, submittedEvent } from './board-builders.ts';
import { recordingLog } from './recording-log.ts';

/**
 * A process of its own that works on the board at argv[2] until it is killed, and writes one line an
 * acknowledged event to stdout: `<task id> <version> <token>`. argv[3]: how many tasks are in flight.
 */
const [path = '', inFlight = '32'] = process.argv.slice(2);
const board = await openEmbeddedBoard({ path, clock: systemClock, log: recordingLog() });
writeSync(1, 'ready\n');

async function work(): Promise<never> {
  for (;;) {
    const submit = submittedEvent();
    const { taskId } = submit.task;
    const events = [submit, claimedBy('adolf', { attempt: 1 }), settledBy('adolf', 2)];
    for (const [index, event] of events.entries()) {
      const answer = await board.append(taskId, index + 1, event);
      if (answer === 'appended') writeSync(1, `${taskId} ${index + 1} ${event.token}\n`);
    }
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, work));
