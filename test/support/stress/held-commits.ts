import type { RunningKanboard } from '../services/kanboard.ts';

/**
 * From now on 40 % of the inserts of tags sleep at their commit, each up to `mostMs`: what another session
 * reads meanwhile lacks them although their ids are lower. It widens the window and changes nothing else.
 */
export async function holdUpCommits({ psql }: RunningKanboard, mostMs: number): Promise<void> {
  if (psql === undefined) throw new Error('commits can be held up on PostgreSQL only');
  await psql(`
    create sequence if not exists held_commits;
    create or replace function hold_commit() returns trigger language plpgsql as $$
    begin
      if random() < 0.4 then
        perform nextval('held_commits');
        perform pg_sleep(random() * ${mostMs / 1_000});
      end if;
      return null;
    end $$;
    drop trigger if exists hold_commit on tags;
    create constraint trigger hold_commit after insert on tags
      deferrable initially deferred for each row execute function hold_commit();`);
}

/** How many were held up so far; a sequence counts what is rolled back, too. */
export async function commitsHeldUp({ psql }: RunningKanboard): Promise<number> {
  return Number(await psql?.('select last_value from held_commits'));
}
