import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cardsFinding } from '../../cli/doctor/cards-check.ts';
import { openCardRegistry, type CardRegistry } from '../../cards/registry/card-registry.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { cardHome, gitEnvironment, type CardHome } from '../support/card-home.ts';
import { recordingLog } from '../support/recording-log.ts';

let home: CardHome;
let registry: CardRegistry | undefined;
beforeEach(() => {
  home = cardHome();
  registry = undefined;
});
afterEach(async () => {
  await registry?.close();
  home.remove();
});

const examined = (defaultHuman = 'operator') => {
  const { dir, stateDir } = home;
  const environment = gitEnvironment;
  const view = { home: dir, defaultHuman, environment, nowMs: systemClock.nowMs() };
  return cardsFinding(view, stateDir);
};

async function served(): Promise<CardRegistry> {
  registry = await openCardRegistry({
    ...{ home: home.dir, stateDir: home.stateDir, branch: 'main', clock: systemClock },
    ...{ defaultHuman: () => 'operator', environment: gitEnvironment, log: recordingLog() },
  });
  return registry;
}

const spoil = () => {
  home.card({ mayCall: ['ghost'] });
  return home.commit('Spoil Adolf');
};

describe('what the doctor says of the Cards', () => {
  it('is that they are sound, or how many warnings they have', async () => {
    expect(await examined()).toMatchObject({ verdict: 'ok' });
    home.card({ admit: ['untrusted'] });
    home.commit();
    expect(await examined()).toMatchObject({ verdict: 'warn', says: '1 warning' });
  });

  it('is why the newest commit is refused, and what is served instead', async () => {
    const mesh = await served();
    const good = mesh.current().commit;
    spoil();
    await mesh.reload();
    expect(mesh.refusal()).toBeDefined();
    const { verdict, says } = await examined();
    expect(verdict).toBe('fail');
    expect(says).toContain(`${good.slice(0, 12)} is served instead`);
    expect(says).toMatch(
      /refused for 1 error,.*cards\/adolf\.card\.yaml:\d+:\d+ error UNKNOWN_AGENT/,
    );
    home.card({});
    home.commit('Repair Adolf');
    expect(await examined()).toMatchObject({ verdict: 'ok' });
  });

  it('blames the settings, and no commit, for what is wrong in them', async () => {
    const { verdict, says } = await examined('nobody');
    expect(verdict).toBe('fail');
    expect(says).toMatch(/^mesh\.yaml:.* UNKNOWN_HUMAN .*Name a human of this home: operator\.$/);
    expect(says).not.toContain('commit');
  });

  it('is that nothing was served yet, where that is so', async () => {
    spoil();
    expect((await examined()).says).toContain('no commit was ever served');
  });
});
