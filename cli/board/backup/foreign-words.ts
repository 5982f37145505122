/** What keeps a Kanboard that is not ours; after the mesh's own part, so that it knows at least as much. */
export const foreignDump = (url: string): string => `\
The board at ${url} is for its own host to keep: run this there, now, the database first.
  pg_dump -Fc -f kanboard.dump "<its DATABASE_URL>"       PostgreSQL
  sqlite3 <DATA_DIR>/db.sqlite "VACUUM INTO 'kanboard.sqlite'"   SQLite, instead of that
  tar -C <DATA_DIR> -cf kanboard-data.tar files
With deploy/kanboard/compose.yaml:
  docker compose exec -T db pg_dump -U kanboard -Fc kanboard >kanboard.dump
  docker compose exec -T kanboard tar -C /var/www/app -cf - data >kanboard-data.tar`;

export const foreignRestore = (url: string): string => `\
The board at ${url} is for its own host to bring back, from the dump that was made with this backup:
  pg_restore --clean --if-exists -d "<its DATABASE_URL>" kanboard.dump   PostgreSQL
  cp kanboard.sqlite <DATA_DIR>/db.sqlite                      SQLite, with the Kanboard stopped and no db.sqlite-wal there
  tar -C <DATA_DIR> -xf kanboard-data.tar
With deploy/kanboard/compose.yaml: deploy/kanboard/README.md, “Backup”.`;
