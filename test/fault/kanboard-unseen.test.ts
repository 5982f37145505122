import { expect, it, onTestFinished } from 'vitest';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import { openCrashHome, owner, submitCrashTask } from '../support/crash-home.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { calling, startFaultyProxy } from '../support/services/faulty-proxy.ts';
import { describeWith } from '../support/services/service.ts';
import { openPlacedBoard } from '../support/stress/board-place.ts';
import { sharedKanboard } from '../support/stress/shared-kanboard.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const agentId = 'sender';
const leaseMs = 60_000;
/** What shows a log to people, and to other hosts that it changed. */
const display = calling('getTaskTags', 'setTaskTags', 'createComment', 'moveTaskToProject');

/** What a process wrote and died before it could show it: its log says it, its board task does not. */
describeWith('kanboard', 'an event that its author never showed', () => {
  const kanboard = sharedKanboard('sqlite');

  async function twoHosts() {
    const home = await temporaryFolder();
    const place = await kanboard.newPlace();
    const proxy = await startFaultyProxy(place.url);
    onTestFinished(() => proxy.stop());
    const author = await openCrashHome(home, agentId, leaseMs, { ...place, url: proxy.url });
    const log = recordingLog();
    // Ten minutes ahead, so that no search by date of change ever shows it this one.
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 600_000 };
    const openOther = async (name: string) => {
      const other = await openPlacedBoard(place, { folder: home, name, log, pollMs: 50, clock });
      onTestFinished(() => other.close());
      other.start();
      return other;
    };
    return { proxy, author, openOther };
  }

  it('is known to a host that was there before, if it is a claim', async () => {
    const { proxy, author, openOther } = await twoHosts();
    const uid = await submitCrashTask(author.deps, agentId, 'Do it');
    const other = await openOther('other');
    const query = { phases: ['ready'], limit: 10 } as const;
    expect((await other.find(query)).total).toBe(1);

    proxy.always({ kind: 'reset' }, display);
    const [policy] = author.deps.directory.agents();
    await claimTask(author.deps, uid, { policy: policy!, incarnation: 'dead0001dead0001' });
    await author.board.close();
    const held = { leasesOnly: true, limit: 10 };
    await expect.poll(async () => (await other.find(held)).total, { timeout: 5_000 }).toBe(1);
  });

  it('is known to a host that was there before, if it ended the task', async () => {
    const { proxy, author, openOther } = await twoHosts();
    const uid = await submitCrashTask(author.deps, agentId, 'Do it');
    const other = await openOther('other');
    const query = { phases: ['ready'], limit: 10 } as const;
    expect((await other.find(query)).total).toBe(1);

    proxy.always({ kind: 'reset' }, display);
    await cancelTask(author.deps, { principal: owner, uid });
    await author.board.close();
    await expect.poll(async () => (await other.find(query)).total, { timeout: 5_000 }).toBe(0);
  });

  it('has its board task once its submit was acknowledged, at whichever try', async () => {
    const { proxy, author, openOther } = await twoHosts();
    proxy.always({ kind: 'reset' }, calling('createTask'));
    const submit = () => submitCrashTask(author.deps, agentId, 'Do it');
    await expect(submit()).rejects.toThrow('Kanboard');
    proxy.clear();
    const uid = await submit();
    await author.board.close();
    const other = await openOther('other');
    expect(await other.list(policyQueue(author), Infinity, 10)).toEqual([uid]);
  });
});

const policyQueue = ({ deps }: Awaited<ReturnType<typeof openCrashHome>>) =>
  deps.directory.agents()[0]!.queue;
