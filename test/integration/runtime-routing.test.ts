import { afterEach, describe, expect, it } from 'vitest';
import {
  routeNewTask,
  startRouting,
  type Routing,
  type RoutingDeps,
} from '../../agents/runtimes/router.ts';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import { scopes, type Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import type { SubmitRequest } from '../../fabric/queue/submit-request.ts';
import { submitTask } from '../../fabric/queue/submit.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import type { Explanation, RouteDecision } from '../../router/decision.ts';
import { Target } from '../../router/target.ts';
import type { TargetQuestion } from '../../router/resolve-target.ts';
import { until } from '../support/edge-calls.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';

const alvis: Principal = {
  ...{ id: PrincipalId.parse('alvis'), role: 'human', trust: 'human' },
  scopes: new Set(scopes),
};
const explain: Explanation = {
  target: Target.parse({ kind: 'auto' }),
  ...{ atMs: 0, commit: 'c0ffee', tierSource: 'score', tier: 'medium', candidates: [] },
};
const toAdolf: Extract<RouteDecision, { do: 'route' }> = {
  ...{ do: 'route', agentId: 'adolf', explain },
  backbone: { modelAgentId: 'kimi', gatewayModel: 'kimi', cost: 'flat-quota' },
};
const wait = (untilMs?: number): RouteDecision => ({
  ...{ do: 'park', reasons: ['all are busy'], explain },
  ...(untilMs !== undefined && { untilMs }),
});
const no = (why: 'noCandidate' | 'deadlineBeforeFree' | 'needsScore'): RouteDecision => ({
  ...{ do: 'reject', why, reasons: ['no such skill'], explain },
});

let mesh: EdgeMesh;
let routing: Routing | undefined;
afterEach(async () => {
  await routing?.stop();
  routing = undefined;
  await mesh.close();
});

/** A router whose answers the test sets. */
async function router() {
  const seller = { id: 'seller', name: 'Seller', mayCall: ['router', 'helper'] };
  mesh = await edgeMesh({ cards: [seller] });
  const seen: TargetQuestion[] = [];
  const answers: { next: RouteDecision } = { next: toAdolf };
  const deps: RoutingDeps = {
    ...mesh.queue,
    routerId: () => 'router',
    resolver: {
      resolve: (question) => {
        seen.push(question);
        return Promise.resolve({ decision: answers.next });
      },
    },
  };
  let keys = 0;
  const submit = async (change: Partial<SubmitRequest> = {}): Promise<TaskState> => {
    keys += 1;
    const { state } = await submitTask(deps, {
      ...{ principal: alvis, target: { kind: 'auto' }, idempotencyKey: `key-${keys}` },
      ...{ intent: { title: 'Do', body: 'Do it.' }, mode: 'async', score: 3 },
      ...change,
    });
    return state;
  };
  const stateOf = async ({ taskId }: TaskState) => (await mesh.board.read(taskId))!.state;
  return { deps, seen, answers, submit, stateOf, route: routeNewTask(deps) };
}

describe('routing a new task', () => {
  it('puts agent, queue and model on record, once', async () => {
    const { submit, route, seen, answers } = await router();
    const state = await submit({
      target: { kind: 'constraints', need: { skill: 'audit', vision: true, minContextTokens: 9 } },
    });
    const routed = await route(state);
    expect(routed).toMatchObject({
      ...{ agentId: 'adolf', queue: 'adolf', phase: 'ready' },
      selection: { model: 'kimi', source: 'router', tier: 'medium' },
    });
    expect(seen[0]).toMatchObject({
      target: {
        kind: 'constraints',
        need: { caps: ['audit'], modality: ['text', 'image'], minContext: 9 },
      },
      task: { score: 3, caller: 'background', submitterId: 'alvis' },
      text: 'Do it.',
    });
    answers.next = { ...toAdolf, agentId: 'helper' };
    expect(await route(routed)).toBe(routed);
    expect((await route(state)).agentId).toBe('adolf');
  });

  it('leaves what must wait as it is', async () => {
    const { submit, route, answers, stateOf } = await router();
    answers.next = wait();
    const state = await submit();
    expect(await route(state)).toBe(state);
    expect((await stateOf(state)).version).toBe(state.version);
  });

  it('asks for the score first', async () => {
    const { submit, route, seen } = await router();
    const state = await submit({ score: 0 });
    expect((await route(state)).question?.kind).toBe('rating');
    expect(seen).toHaveLength(0);
  });

  it('asks for the score of what was only suggested, once it is admitted', async () => {
    const { deps, submit, route, answers } = await router();
    answers.next = no('needsScore');
    const tainted: Principal = { ...alvis, id: PrincipalId.parse('guest'), trust: 'untrusted' };
    const suggested = await submit({ score: 0, principal: tainted });
    expect(suggested.phase).toBe('suggested');
    const admitted = await steerTask(deps, alvis, suggested.taskId, { do: 'admit' });
    const asked = await route(admitted);
    expect(asked).toMatchObject({ phase: 'input-required', question: { kind: 'rating' } });
    expect((await route(asked)).version).toBe(asked.version);
    const [to] = asked.question!.to;
    const given = { principal: { ...alvis, id: to! }, uid: asked.taskId };
    const { decisionId } = asked.question!;
    const rated = await answerQuestion(deps, { ...given, decisionId, value: '5' });
    answers.next = toAdolf;
    expect(await route(rated)).toMatchObject({ agentId: 'adolf', score: 5 });
  });

  it('offers an agent only whom it may call, and nobody who is above already', async () => {
    const { submit, route, seen } = await router();
    const seller: Principal = {
      ...{ id: PrincipalId.parse('seller'), role: 'agent', trust: 'trusted' },
      scopes: new Set(['tasks:submit']),
    };
    await route(await submit());
    await route(await submit({ principal: seller }));
    const [byPerson, byAgent] = seen.map(({ task }) => [...(task.barred?.keys() ?? [])]);
    expect(byPerson).toEqual([]);
    expect(byAgent).toEqual(expect.arrayContaining(['adolf', 'doer', 'single', 'slow']));
    expect(byAgent).not.toContain('helper');
  });

  it('yields to who was faster', async () => {
    const { deps, submit } = await router();
    const state = await submit();
    const slowly: RoutingDeps = {
      ...deps,
      resolver: {
        resolve: async () => {
          await routeNewTask(deps)(state);
          return { decision: { ...toAdolf, agentId: 'helper' } };
        },
      },
    };
    expect((await routeNewTask(slowly)(state)).agentId).toBe('adolf');
  });

  it('asks a person when nobody is free before the deadline, once', async () => {
    const { deps, submit, route, answers } = await router();
    answers.next = no('deadlineBeforeFree');
    const state = await submit({ deadlineAtMs: Date.now() + 60_000 });
    const asked = await route(state);
    expect(asked.question).toMatchObject({ kind: 'deadline', to: ['alvis'], urgent: true });
    const given = { principal: alvis, uid: state.taskId, decisionId: asked.question!.decisionId };
    const open = await answerQuestion(deps, { ...given, value: 'go on' });
    expect(open.phase).toBe('ready');
    expect((await route(open)).phase).toBe('ready');
  });

  it('asks a person when nobody can ever do it', async () => {
    const { deps, submit, route, answers, stateOf } = await router();
    answers.next = no('noCandidate');
    const asked = await route(await submit());
    expect(asked.question).toMatchObject({ kind: 'escalation', options: ['retry', 'cancel'] });
    expect(asked.question?.text).toContain('no such skill');
    const given = { principal: alvis, uid: asked.taskId, decisionId: asked.question!.decisionId };
    await answerQuestion(deps, { ...given, value: 'cancel' });
    expect((await stateOf(asked)).phase).toBe('canceled');
  });
});

describe('what had to wait', () => {
  it('is decided anew when somebody says that things have changed', async () => {
    const { deps, submit, answers, stateOf, seen } = await router();
    answers.next = wait();
    routing = startRouting(deps, 60_000);
    const state = await submit();
    await until(
      () => Promise.resolve(seen.length),
      (looks) => looks > 0,
    );
    answers.next = { ...toAdolf, agentId: 'helper' };
    routing.wake();
    const routed = await until(
      () => stateOf(state),
      ({ agentId }) => agentId !== undefined,
    );
    expect(routed.agentId).toBe('helper');
  });

  it('is decided by whoever is the router now', async () => {
    const { deps, submit, stateOf } = await router();
    let name = 'nobody-yet';
    routing = startRouting({ ...deps, routerId: () => name }, 60_000);
    const state = await submit();
    routing.wake();
    expect((await stateOf(state)).agentId).toBeUndefined();
    name = 'router';
    routing.wake();
    await until(
      () => stateOf(state),
      ({ agentId }) => agentId === 'adolf',
    );
    const { events } = (await mesh.board.read(state.taskId))!;
    expect(events.find(({ kind }) => kind === 'routed')?.by.id).toBe('router');
  });

  it('is decided at each poll, however many wait', async () => {
    const { deps, submit, answers, stateOf } = await router();
    answers.next = wait(systemClock.nowMs() + 1_000);
    const states = await Promise.all(Array.from({ length: 12 }, () => submit()));
    routing = startRouting(deps, 50);
    answers.next = toAdolf;
    for (const state of states) {
      await until(
        () => stateOf(state),
        ({ agentId }) => agentId === 'adolf',
      );
    }
  });

  it('outlives a fault', async () => {
    const { deps, submit, stateOf } = await router();
    let faults = 0;
    const flaky: RoutingDeps = {
      ...deps,
      resolver: {
        resolve: (question) => {
          faults += 1;
          if (faults === 1) return Promise.reject(new Error('A fault.'));
          return deps.resolver.resolve(question);
        },
      },
    };
    const state = await submit();
    routing = startRouting(flaky, 50);
    await until(
      () => stateOf(state),
      ({ agentId }) => agentId === 'adolf',
    );
    expect(mesh.log.lines.some(({ event }) => event === 'routing.fault')).toBe(true);
  });
});
